
// The page around the worker: unpacks the module, draws frames, and reports keys, clicks and files. The module decides
// everything else (web/src/lib.rs).
"use strict";
(() => {
  const CELL = { width: 8.4, height: 18 };
  const SVG = "http://www.w3.org/2000/svg";
  // The largest file, in bytes, and the longest paste, in letters.
  const MOST = 64 << 20;
  const PASTE = 8192;
  // How far a pointer may move in a click, and how far a wheel or finger scrolls a line, in pixels.
  const STILL = 8;
  const LINE = 40;
  const NAMED = /^(Arrow|Page|Home$|End$|Enter$|Escape$|Backspace$|Delete$|F1$)/;
  const LIGHT = matchMedia("(prefers-color-scheme: light)");
  const NOTHING = { columns: 0, rows: 0, lines: [], svg: null, back: null };
  // This page as it came: a game is saved inside a copy that opens no connection.
  const SOURCE = document.documentElement.outerHTML;
  // Whether the page may open sockets, and so sit down at tables.
  const JOINS = document.querySelector("meta[http-equiv]").content.includes("connect-src ws:");
  const table = document.getElementById("table");
  const typed = document.getElementById("typed");
  const status = document.getElementById("status");
  const buttons = document.getElementById("buttons");
  const chooser = document.getElementById("file");
  const text = (id) => document.getElementById(id).textContent;

  let worker = null;
  // What begins a worker: the address of its script, and the module.
  let script = null;
  let module = null;
  // The workers that audit slices of a check.
  const helpers = [];
  let frame = NOTHING;
  const ask = (message) => worker && worker.postMessage({ ask: message });

  function fault(words) {
    [worker, ...helpers].forEach((each) => each?.terminate());
    worker = null;
    frame = NOTHING;
    const told = document.createElement("p");
    told.className = "fault";
    told.setAttribute("role", "alert");
    told.textContent = words;
    table.replaceChildren(told);
  }

  // Columns and rows of about the size of text that this browser shows, at least 60 by 20.
  function size() {
    const box = table.getBoundingClientRect();
    const columns = Math.max(60, Math.min(200, Math.floor(box.width / CELL.width)));
    const zoom = box.width / (columns * CELL.width);
    const rows = Math.floor(box.height / (CELL.height * Math.min(zoom, 1.3))) || 20;
    // A phone held sideways: cards instead of their names, in letters as small as on one held upright.
    if (rows < 24 && columns >= 80 && box.height >= 24 * 12) {
      return [Math.min(200, Math.floor((box.width / CELL.width) * ((24 * CELL.height) / box.height))), 24];
    }
    return [columns, Math.max(20, Math.min(60, rows))];
  }

  function blank(columns, rows) {
    const [width, height] = [columns * CELL.width, rows * CELL.height];
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("font-family", "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace");
    svg.setAttribute("font-size", "14");
    svg.setAttribute("shape-rendering", "crispEdges");
    svg.setAttribute("aria-hidden", "true");
    const back = document.createElementNS(SVG, "rect");
    back.setAttribute("width", "100%");
    back.setAttribute("height", "100%");
    svg.append(back);
    const lines = Array.from({ length: rows }, () => document.createElementNS(SVG, "g"));
    svg.append(...lines);
    table.replaceChildren(svg);
    frame = { columns, rows, lines, svg, back };
  }

  function show(answer) {
    const next = answer.frame;
    if (frame.columns !== next.columns || frame.rows !== next.rows) blank(next.columns, next.rows);
    frame.back.setAttribute("fill", next.ground);
    document.body.style.background = next.ground;
    document.body.style.color = next.ink;
    for (const [number, markup] of next.changed) frame.lines[number].innerHTML = markup;
    table.dataset.screen = next.screen;
    table.dataset.busy = answer.busy;
    if (status.textContent !== next.said) status.textContent = next.said;
    offer(next.buttons);
    if (!answer.busy || answer.split) helpers.splice(0).forEach((helper) => helper.terminate());
    if (answer.split) split(answer.split);
    if (answer.pick) chooser.click();
    if (sign !== next.sign) {
      sign = next.sign;
      document.title = sign ? `\u25cf ${sign}` : title;
      if (sign && document.hidden) give();
    }
    if (plays !== next.plays) {
      plays = next.plays;
      stayAwake();
    }
    if (answer.go !== undefined) location.hash = answer.go;
    if (answer.copy !== undefined) copy(answer.copy);
    if (answer.game !== undefined) saveGame(...answer.game);
    if (answer.file !== undefined) download(answer.file[0], [Uint8Array.from(atob(answer.file[1]), (letter) => letter.charCodeAt(0))]);
    if (types !== next.types) {
      types = next.types;
      // Some phones show their keyboard only for a field that a finger has touched.
      document.body.classList.toggle("types", types);
      if (!types && document.activeElement === typed) table.focus();
    }
    // A phone shows its keyboard for a field alone.
    if (types && touches) typed.focus({ preventScroll: true });
    if (answer.save !== undefined) {
      // Some browsers keep nothing for pages from a file.
      try { localStorage.setItem("fairdeal-settings", answer.save); } catch { }
    }
  }

  // How long a button with new words takes no press, in milliseconds: the finger was on its way to the old ones.
  const GUARD = 300;
  const changed = new WeakMap();

  // Buttons for fingers. Elements stay and change their words: a finger may be on one.
  function offer(words) {
    while (buttons.childElementCount > words.length) buttons.lastChild.remove();
    words.forEach((word, at) => {
      const button = buttons.children[at] ?? buttons.appendChild(document.createElement("button"));
      button.type = "button";
      if (button.textContent === word) return;
      button.textContent = word;
      changed.set(button, performance.now());
    });
  }

  // Whether the player types into a field, and whether by touch.
  let types = false;
  let touches = false;
  // What waits for the player, and the title while nothing does.
  let sign = "";
  let title = document.title;

  // A sign for whoever looks elsewhere, if it is wanted: a notification, or a tone where the browser allows none, as for
  // pages by plain http. Phones vibrate.
  const tell = document.getElementById("tell");
  let audio = null;
  function give() {
    navigator.vibrate?.(200);
    if (tell.ariaPressed !== "true") return;
    if (window.Notification?.permission === "granted") {
      try {
        const shown = new Notification("fairdeal", { body: sign, tag: "sign" });
        shown.onclick = () => focus();
        return;
      } catch {
        // Some phones leave notifications to installed programs.
      }
    }
    if (audio) {
      const [tone, volume] = [audio.createOscillator(), audio.createGain()];
      volume.gain.value = 0.1;
      tone.connect(volume).connect(audio.destination);
      tone.start();
      tone.stop(audio.currentTime + 0.25);
    }
  }

  // Browsers ask for leave, and let a page sound, only after a press.
  async function wantsTelling() {
    const wants = tell.ariaPressed !== "true";
    tell.ariaPressed = String(wants);
    table.focus();
    if (!wants) return;
    audio ??= window.AudioContext ? new AudioContext() : null;
    if (window.isSecureContext) await window.Notification?.requestPermission?.();
  }

  // While a seat plays, a phone should not go dark over it. Plain http has no such lock.
  let plays = false;
  let awake = null;
  async function stayAwake() {
    try {
      if (!plays) await awake?.release();
      else if (!document.hidden) awake = (await navigator.wakeLock?.request("screen")) ?? null;
    } catch { }
  }

  // Whichever way a helper ends, the check goes on.
  function split({ check, of, file }) {
    for (let slice = 1; slice < of; slice++) {
      const say = (holds) => ask({ slice: { check, slice, holds } });
      try {
        const helper = new Worker(script);
        helpers.push(helper);
        helper.onmessage = ({ data }) => say(data.holds === true);
        helper.onerror = () => say(false);
        helper.onmessageerror = () => say(false);
        helper.postMessage({ module, slice: [slice, of], file });
      } catch {
        say(false);
      }
    }
  }

  function download(name, ...content) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(...content));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  function saveGame(name, game) {
    const element = `<script type="text/plain" id="game" data-name="${name}">${game}<\/script>`;
    const page = SOURCE.replace("<!--" + "game-->", element).replace("connect-src ws: wss:", "connect-src 'none'");
    download(name.replace(/\.fairdeal$/, ".html"), ["<!doctype html>\n", page], { type: "text/html" });
  }

  // Plain http has no clipboard of its own: there the browser copies what is marked in a field.
  async function copy(words) {
    let copied = false;
    try {
      await navigator.clipboard.writeText(words);
      copied = true;
    } catch {
      const field = document.createElement("textarea");
      field.value = words;
      document.body.append(field);
      field.select();
      copied = document.execCommand("copy");
      field.remove();
      table.focus();
    }
    ask({ copied });
  }

  function saved() {
    try { return localStorage.getItem("fairdeal-settings"); } catch { return null; }
  }

  const refuse = (name, why) => ask({ "no-file": { name, why } });

  let chosen = 0;
  async function check(files) {
    if (!files.length) return;
    // While one file is read, another may be chosen: the last one counts.
    const own = ++chosen;
    table.focus();
    if (files.length > 1) return refuse(`${files.length} files`, "open one file at a time");
    const [file] = files;
    if (file.size > MOST) {
      return refuse(file.name, "it is larger than 64 MiB. The command fairdeal verify reads up to 256 MiB");
    }
    try {
      const bytes = await file.arrayBuffer();
      if (own === chosen) worker?.postMessage({ file: bytes, name: file.name }, [bytes]);
    } catch (why) {
      if (own === chosen) refuse(file.name, String(why));
    }
  }

  const surroundings = () => ({ today: new Date().toISOString().slice(0, 10), light: LIGHT.matches });

  function cell(event) {
    const matrix = frame.svg?.getScreenCTM();
    if (!matrix) return null;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const [x, y] = [Math.floor(point.x / CELL.width), Math.floor(point.y / CELL.height)];
    return x >= 0 && y >= 0 && x < frame.columns && y < frame.rows ? [x, y] : null;
  }

  // Whether a key is for the table, and not for the browser or an input method.
  function isOurs(event) {
    const types = event.getModifierState("AltGraph");
    if (event.isComposing || event.metaKey || (!types && (event.ctrlKey || event.altKey))) return false;
    if (event.key === "Tab") return document.activeElement === table;
    // Buttons of the page keep their own keys.
    if (document.activeElement?.closest("header, #buttons")) return false;
    // A field's letters come as what they do to it.
    if (document.activeElement === typed) return event.key !== "Backspace" && NAMED.test(event.key);
    return [...event.key].length === 1 || NAMED.test(event.key);
  }

  let rolled = 0;
  function roll(pixels) {
    rolled += pixels;
    const lines = Math.trunc(rolled / LINE);
    rolled -= lines * LINE;
    for (let line = 0; line < Math.min(Math.abs(lines), 10); line++) ask({ scroll: Math.sign(lines) });
  }

  // Files that come before the module wait in the worker. Without these the browser would leave the page for a dropped
  // file, even after a failed start.
  function listenForFiles() {
    chooser.addEventListener("change", () => {
      check(chooser.files);
      chooser.value = "";
    });
    addEventListener("dragover", (event) => {
      event.preventDefault();
      table.classList.toggle("drop", worker !== null);
    });
    addEventListener("dragleave", (event) => event.relatedTarget || table.classList.remove("drop"));
    addEventListener("drop", (event) => {
      event.preventDefault();
      table.classList.remove("drop");
      check(event.dataTransfer.files);
    });
  }

  function listen() {
    addEventListener("keydown", (event) => {
      if (!isOurs(event)) return;
      event.preventDefault();
      ask({ key: { key: event.key, shift: event.shiftKey } });
    });
    // F6 leads out of the table, as between the parts of a browser.
    addEventListener("keydown", (event) => {
      if (event.key !== "F6" || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      (document.activeElement === table ? chooser : table).focus();
    });
    addEventListener("paste", (event) => ask({ paste: event.clipboardData.getData("text").slice(0, PASTE) }));
    // What a phone's keyboard does: it names no keys.
    typed.addEventListener("beforeinput", (event) => {
      event.preventDefault();
      if (event.inputType === "insertLineBreak") ask({ key: { key: "Enter" } });
      else if (event.inputType.startsWith("delete")) ask({ key: { key: "Backspace" } });
      else if (event.data) ask({ paste: event.data });
    });
    let down = null;
    // Whether the pointer was far from where it went down when it was released.
    let dragged = false;
    // Whether the newest press is of a mouse's right button.
    let right = false;
    let moved = "";
    // The first finger alone scrolls; the browser zooms with two.
    table.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary) return;
      touches = event.pointerType === "touch";
      down = { x: event.clientX, y: event.clientY, rolls: event.clientY };
      dragged = false;
      right = event.pointerType === "mouse" && event.button === 2;
    });
    addEventListener("pointerup", (event) => {
      if (!event.isPrimary || !down) return;
      dragged = Math.hypot(event.clientX - down.x, event.clientY - down.y) > STILL;
      down = null;
    });
    addEventListener("pointercancel", (event) => {
      if (event.isPrimary) down = null;
    });
    table.addEventListener("pointermove", (event) => {
      if (!event.isPrimary) return;
      if (event.pointerType === "touch") {
        if (down) roll(down.rolls - event.clientY);
        if (down) down.rolls = event.clientY;
        return;
      }
      const at = cell(event);
      if (!at || String(at) === moved) return;
      moved = String(at);
      ask({ move: at });
    });
    table.addEventListener("click", (event) => {
      const at = cell(event);
      // A pointer that was dragged has marked text, or scrolled.
      if (at && !dragged) ask({ click: at });
      dragged = false;
    });
    table.addEventListener("contextmenu", (event) => {
      // A long press and the menu key open the browser's menu.
      const at = right ? cell(event) : null;
      right = false;
      if (!at) return;
      event.preventDefault();
      ask({ "secondary-click": at });
    });
    const wheel = (event) => {
      if (!event.ctrlKey && event.deltaY) roll(event.deltaMode === 1 ? event.deltaY * CELL.height : event.deltaY);
    };
    table.addEventListener("wheel", wheel, { passive: true });
    // What counts is what a button said when the finger came down; a press by a keyboard has no such moment.
    let meant = null;
    const said = (button) => (performance.now() - changed.get(button) < GUARD ? "" : button.textContent);
    buttons.addEventListener("pointerdown", ({ target }) => {
      const button = target.closest("button");
      meant = button && said(button);
    });
    buttons.addEventListener("pointercancel", () => (meant = null));
    buttons.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      touches = event.pointerType !== "mouse";
      const words = meant ?? button.textContent;
      if (words) ask({ press: words });
      meant = null;
    });
    const refresh = () => ask({ refresh: { ...surroundings(), hidden: document.hidden } });
    LIGHT.addEventListener("change", refresh);
    document.addEventListener("visibilitychange", refresh);
    if (JOINS) {
      document.addEventListener("visibilitychange", stayAwake);
      tell.hidden = false;
      tell.addEventListener("click", wantsTelling);
    }
    let resized = 0;
    new ResizeObserver(() => {
      clearTimeout(resized);
      resized = setTimeout(() => ask({ size: size() }), 100);
    }).observe(table);
  }

  async function start() {
    if (JOINS) {
      title = "fairdeal: a seat at a table";
      document.title = title;
      document.querySelector("label[for=file]").textContent = "Open a file: a game, or your seat";
      const from = location.host
        ? `This page comes from ${location.host}. It sees your cards: trust it as far as whoever runs that program. `
        : "This page is a file of yours. ";
      document.getElementById("note").textContent = `${from}It connects to the programs at the table, and to nobody else.`;
    }
    const source = new Blob([text("worker")], { type: "text/javascript" });
    script = URL.createObjectURL(source);
    worker = new Worker(script);
    worker.onmessage = ({ data }) => (data.fault === undefined ? show(data.answer) : fault(data.fault));
    worker.onerror = (event) => fault(`fairdeal cannot run here: ${event.message || "the browser refuses its worker"}`);
    worker.onmessageerror = () => fault("fairdeal has crashed. Reload the page.");
    const packed = Uint8Array.from(atob(text("module")), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    module = await WebAssembly.compile(await new Response(unpacked).arrayBuffer());
    const [columns, rows] = size();
    const seed = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0"));
    const begin = {
      columns,
      rows,
      seed: seed.join(""),
      ...surroundings(),
      still: matchMedia("(prefers-reduced-motion: reduce)").matches,
      settings: saved(),
      cores: navigator.hardwareConcurrency ?? 1,
      table: JOINS ? { origin: location.origin.startsWith("http") ? location.origin : null, ticket: location.hash.slice(1), kept: [] } : null,
    };
    worker.postMessage({ module, start: begin });
    listen();
    table.focus();
  }

  // A game that the page was saved with (src/replay_page.rs).
  function bring() {
    const game = document.getElementById("game");
    if (!game) return;
    const bytes = Uint8Array.from(atob(game.textContent), (letter) => letter.charCodeAt(0)).buffer;
    worker?.postMessage({ file: bytes, name: game.dataset.name }, [bytes]);
  }

  // Another ticket is another table, which the page takes as it begins.
  if (JOINS) addEventListener("hashchange", () => location.reload());
  listenForFiles();
  start().then(bring).catch((why) => fault(`This browser cannot run the page: ${why}. A current Firefox, Chrome or Safari can; so can \
fairdeal verify FILE.`));
})();
