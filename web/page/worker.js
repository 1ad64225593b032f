
// The worker: owns the module, its timers, and the slices of a long check, between which it listens to the page.
"use strict";
(() => {
  // How long a slice may take, in milliseconds.
  const SLICE = 40;
  let wasm = null;
  // Steps of a slice, adapted to the file.
  let steps = 1;
  let timer = 0;
  let last = 0;
  let working = false;

  const bytes = (place, length) => new Uint8Array(wasm.memory.buffer, place >>> 0, length >>> 0);
  const words = (place, length) => new TextDecoder().decode(bytes(place, length));

  function tell(message) {
    const encoded = new TextEncoder().encode(JSON.stringify(message));
    bytes(wasm.message_room(encoded.length), encoded.length).set(encoded);
    let length;
    try {
      length = wasm.handle();
    } catch (why) {
      const said = words(wasm.fault_place(), wasm.fault_length());
      wasm = null;
      clearTimeout(timer);
      return postMessage({ fault: `The page has stopped, by a fault of its own. Load it again. ${why}\n${said}` });
    }
    const { Ok: answer, Err: refused } = JSON.parse(words(wasm.answer_place(), length));
    if (refused !== undefined) return postMessage({ fault: `The page has stopped: ${refused}` });
    postMessage({ answer });
    clearTimeout(timer);
    if (answer.pace === null) last = performance.now();
    else timer = setTimeout(tick, answer.pace);
    if (answer.busy && !working) {
      working = true;
      setTimeout(work, 0);
    }
  }

  function tick() {
    if (!wasm) return;
    const now = performance.now();
    const passed = Math.round(now - last);
    last = now;
    tell({ tick: passed });
  }

  function work() {
    working = false;
    if (!wasm) return;
    const began = performance.now();
    tell({ work: steps });
    const took = performance.now() - began;
    if (took < SLICE / 2) steps = Math.min(steps * 2, 4096);
    else if (took > SLICE) steps = Math.max(Math.floor(steps / 2), 1);
  }

  onmessage = async ({ data }) => {
    if (data.module) {
      // The module imports nothing.
      wasm = (await WebAssembly.instantiate(data.module, {})).exports;
      last = performance.now();
      return tell({ start: data.start });
    }
    if (!wasm) return;
    if (data.file) {
      const file = new Uint8Array(data.file);
      const place = wasm.file_room(file.length);
      if (file.length > 64 << 20) return tell({ "no-file": "it has more than 64 MiB; fairdeal verify reads it" });
      bytes(place, file.length).set(file);
      return tell({ file: data.name });
    }
    tell(data.ask);
  };
})();
