
// The worker: owns the module, its timers, and the turns of a long check, between which it listens to the page. For a
// seat at a table it also owns the sockets and the database; what is said and kept there the module decides.
"use strict";
(() => {
  // How long a turn may take, in milliseconds.
  const TURN = 40;
  let wasm = null;
  // Whether the module has answered its first message.
  let started = false;
  // Steps of a turn, adapted to the file.
  let steps = 1;
  let timer = 0;
  // When it is due.
  let due = Infinity;
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

  function tell(ask) {
    const message = { up: Math.round(performance.now()), wall: Date.now(), ask };
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
    answer.sockets?.forEach(socket);
    answer.store?.forEach(store);
    if (answer.split) answer.split.file = bytes(wasm.split_place(), wasm.split_length()).slice();
    if (answer.frame) postMessage({ answer });
    const now = performance.now();
    // Time that nothing waited for does not count.
    if (!paced) last = now;
    paced = answer.pace !== null;
    // A timer that is due earlier stays: messages without end would put it off for ever.
    const next = paced ? last + answer.pace : Infinity;
    if (next < due || !paced) {
      clearTimeout(timer);
      due = next;
      if (paced) timer = setTimeout(guarded(tick), Math.max(0, due - now));
    }
    if (answer.works && !working) {
      working = true;
      setTimeout(guarded(work), 0);
    }
  }

  function tick() {
    const now = performance.now();
    const passed = Math.round(now - last);
    last = now;
    due = Infinity;
    tell({ tick: passed });
  }

  function work() {
    working = false;
    const began = performance.now();
    tell({ work: steps });
    const took = performance.now() - began;
    if (took < TURN / 2) steps = Math.min(steps * 2, 4096);
    else if (took > TURN) steps = Math.max(Math.floor(steps / 2), 1);
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

  // ---- sockets ----

  // The longest message of a socket, in bytes.
  const LONGEST = 1 << 20;
  const sockets = new Map();
  const packed = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const unpacked = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const happened = guarded(([id, what]) => sockets.has(id) && tell({ socket: [id, what] }));

  function socket(order) {
    if (order.open) {
      const { id, url } = order.open;
      const lost = () => {
        happened([id, "closed"]);
        sockets.delete(id);
      };
      try {
        const opened = new WebSocket(url);
        opened.binaryType = "arraybuffer";
        opened.onopen = () => happened([id, "opened"]);
        opened.onmessage = ({ data }) => {
          // Programs send no text and nothing longer; the module has not proven yet who this is.
          if (typeof data === "string" || data.byteLength > LONGEST) opened.close();
          else happened([id, { heard: packed(new Uint8Array(data)) }]);
        };
        opened.onclose = lost;
        sockets.set(id, opened);
      } catch {
        // A page from https may open no plain socket.
        sockets.set(id, null);
        setTimeout(lost, 0);
      }
    } else if (order.send) {
      const opened = sockets.get(order.send.id);
      if (opened?.readyState === WebSocket.OPEN) opened.send(unpacked(order.send.bytes));
    } else {
      sockets.get(order.close)?.close();
      sockets.delete(order.close);
    }
  }

  // ---- the database ----

  let database = null;
  // The name of this page. Of one table the page that was opened last may write.
  const own = packed(crypto.getRandomValues(new Uint8Array(12)));
  const asked = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const done = (writing) =>
    new Promise((resolve, reject) => {
      writing.oncomplete = resolve;
      // An error of one request has no reason here before the transaction is undone.
      writing.onabort = () => reject(writing.error);
    });
  const transaction = () => database.transaction("kept", "readwrite", { durability: "strict" });
  const beginsWith = (start) => IDBKeyRange.bound(start, start + "\uffff");

  // The number of a ticket's table, in hexadecimal: eight bytes of base32 behind the first three letters.
  function lobby(ticket) {
    const digits = ticket.toLowerCase().match(/fd1([a-z2-7]{13})/)?.[1] ?? "";
    const bits = Array.from(digits, (digit) => "abcdefghijklmnopqrstuvwxyz234567".indexOf(digit).toString(2).padStart(5, "0"));
    return (bits.join("").slice(0, 64).match(/.{4}/g) ?? []).map((four) => parseInt(four, 2).toString(16)).join("");
  }

  // Opens the database, and takes the table of this ticket over from other tabs. Returns all that is kept.
  async function open(ticket) {
    const opening = indexedDB.open("fairdeal", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("kept");
    database = await asked(opening);
    const taking = transaction();
    const kept = taking.objectStore("kept");
    if (lobby(ticket)) kept.put(own, `lease/${lobby(ticket)}`);
    const [keys, values] = [asked(kept.getAllKeys()), asked(kept.getAll())];
    await done(taking);
    const found = (await keys).map(async (key, place) => [key, (await values)[place]]);
    return (await Promise.all(found)).filter(([key]) => !key.startsWith("lease/"));
  }

  async function carryOut({ put, delete: gone, takes }) {
    if (!database) throw new Error("this browser keeps nothing for this page");
    const writing = transaction();
    const kept = writing.objectStore("kept");
    const finished = done(writing);
    const lease = `lease/${(put[0]?.[0] ?? gone[0]).split("/")[0]}`;
    const holder = kept.get(lease);
    let elsewhere = false;
    // The rest is under way meanwhile, and waits for this before it counts.
    holder.onsuccess = () => {
      elsewhere = !takes && holder.result !== undefined && holder.result !== own;
      if (elsewhere) return writing.abort();
      if (holder.result !== own) kept.put(own, lease);
      writing.commit();
    };
    for (const start of gone) kept.delete(beginsWith(start));
    for (const [key, value] of put) kept.put(value, key);
    await finished.catch((why) => {
      if (!elsewhere) throw why;
      throw new Error("this seat is open in another tab. Play on there, or reload this page to play here");
    });
  }

  function store(order) {
    const answer = guarded((fault) => tell({ stored: [order.id, fault] }));
    const failed = (why) => answer({ full: why?.name === "QuotaExceededError", why: String(why?.message ?? why) });
    carryOut(order).then(() => answer(null), failed);
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
    const { start } = data;
    if (data.slice) {
      // This worker audits one slice of a check, and nothing else. A crash says nothing about the file.
      const holds = ({ exports }) => {
        wasm = exports;
        return write(wasm.file_room(data.file.length), data.file) && wasm.slice_holds(...data.slice) === 1;
      };
      const said = await WebAssembly.instantiate(data.module, {}).then(holds).catch(() => false);
      return postMessage({ holds: said });
    }
    if (start.table) {
      // Without a database the page still shows why nobody can sit down.
      start.table.kept = await open(start.table.ticket).catch(() => []);
    }
    // The module imports nothing.
    WebAssembly.instantiate(data.module, {}).then((instance) => {
      wasm = instance.exports;
      guarded(tell)({ start });
      begin();
    }, stop);
  };
})();
