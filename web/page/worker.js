
// The worker: owns the module, its timers, and the slices of a long check, between which it listens to the page.
"use strict";
(() => {
  // How long a slice may take, in milliseconds.
  const SLICE = 40;
  let wasm = null;
  // Whether the module has answered its first message.
  let started = false;
  // Steps of a slice, adapted to the file.
  let steps = 1;
  let timer = 0;
  // When time was last handed to the module.
  let last = 0;
  let paced = false;
  let working = false;

  const bytes = (place, length) => new Uint8Array(wasm.memory.buffer, place >>> 0, length >>> 0);
  const words = (place, length) => new TextDecoder().decode(bytes(place, length));
  // Half a pair of UTF-16 is in no UTF-8 text.
  const whole = (_, value) => (typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value);

  // Ends everything, and says why.
  function stop(why) {
    let said = "";
    try {
      said = words(wasm.fault_place(), wasm.fault_length());
    } catch { }
    wasm = null;
    clearTimeout(timer);
    postMessage({ fault: `fairdeal has crashed. Reload the page. ${why}\n${said}` });
  }

  function write(place, content) {
    if (!place) return false;
    bytes(place, content.length).set(content);
    return true;
  }

  function tell(message) {
    const encoded = new TextEncoder().encode(JSON.stringify(message, whole));
    if (!write(wasm.message_room(encoded.length), encoded)) return;
    const length = wasm.handle();
    const { Ok: answer, Err: refused } = JSON.parse(words(wasm.answer_place(), length));
    if (answer === undefined) {
      // A message that the module does not understand changes nothing.
      if (!started) stop(refused);
      return;
    }
    started = true;
    postMessage({ answer });
    const now = performance.now();
    // Time that nothing waited for does not count.
    if (!paced) last = now;
    paced = answer.pace !== null;
    clearTimeout(timer);
    if (paced) timer = setTimeout(guarded(tick), Math.max(0, answer.pace - (now - last)));
    if (answer.busy && !working) {
      working = true;
      setTimeout(guarded(work), 0);
    }
  }

  function tick() {
    const now = performance.now();
    const passed = Math.round(now - last);
    last = now;
    tell({ tick: passed });
  }

  function work() {
    working = false;
    const began = performance.now();
    tell({ work: steps });
    const took = performance.now() - began;
    if (took < SLICE / 2) steps = Math.min(steps * 2, 4096);
    else if (took > SLICE) steps = Math.max(Math.floor(steps / 2), 1);
  }

  function guarded(run) {
    return (data) => {
      if (!wasm) return;
      try {
        run(data);
      } catch (why) {
        stop(why);
      }
    };
  }

  const hear = guarded((data) => {
    if (!data.file) return tell(data.ask);
    const file = new Uint8Array(data.file);
    steps = 1;
    if (!write(wasm.file_room(file.length), file)) {
      return tell({ "no-file": { name: data.name, why: "it is too large for this page" } });
    }
    tell({ file: data.name });
  });

  // Messages that come before the module wait for it.
  let begin;
  const ready = new Promise((resolve) => (begin = resolve));
  onmessage = async ({ data }) => {
    if (!data.module) {
      await ready;
      return hear(data);
    }
    // The module imports nothing.
    WebAssembly.instantiate(data.module, {}).then((instance) => {
      wasm = instance.exports;
      guarded(tell)({ start: data.start });
      begin();
    }, stop);
  };
})();
