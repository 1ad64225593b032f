
// The page around the worker: unpacks the module, draws frames, and reports keys, clicks and files. The module decides
// everything else (web/src/lib.rs).
"use strict";
(() => {
  const CELL = { width: 8.4, height: 18 };
  const SVG = "http://www.w3.org/2000/svg";
  const table = document.getElementById("table");
  const chooser = document.getElementById("file");
  const text = (id) => document.getElementById(id).textContent;

  let worker = null;
  let frame = { columns: 0, rows: 0, lines: [], svg: null, back: null };
  const ask = (message) => worker && worker.postMessage({ ask: message });

  function fault(words) {
    worker = null;
    table.replaceChildren();
    const told = document.createElement("p");
    told.className = "fault";
    told.setAttribute("role", "alert");
    told.textContent = words;
    table.append(told);
  }

  // Columns and rows of about the size of text that this browser shows, at least 60 by 20.
  function size() {
    const box = table.getBoundingClientRect();
    const columns = Math.max(60, Math.min(200, Math.floor(box.width / CELL.width)));
    const zoom = box.width / (columns * CELL.width);
    const rows = Math.floor(box.height / (CELL.height * Math.min(zoom, 1.3)));
    return [columns, Math.max(20, Math.min(60, rows))];
  }

  function blank(columns, rows) {
    const [width, height] = [columns * CELL.width, rows * CELL.height];
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("font-family", "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace");
    svg.setAttribute("font-size", "14");
    svg.setAttribute("shape-rendering", "crispEdges");
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
    if (frame.columns !== answer.columns || frame.rows !== answer.rows) blank(answer.columns, answer.rows);
    frame.back.setAttribute("fill", answer.ground);
    document.body.style.setProperty("background", answer.ground);
    for (const [number, markup] of answer.changed) frame.lines[number].innerHTML = markup;
    table.dataset.screen = answer.screen;
    table.dataset.busy = answer.busy;
    if (answer.pick) chooser.click();
    if (answer.copy !== undefined && navigator.clipboard) navigator.clipboard.writeText(answer.copy).catch(() => {});
    if (answer.save !== undefined) {
      // Some browsers keep nothing for pages from a file.
      try { localStorage.setItem("fairdeal-settings", answer.save); } catch { }
    }
  }

  function saved() {
    try { return localStorage.getItem("fairdeal-settings"); } catch { return null; }
  }

  async function check(file) {
    if (!file || !worker) return;
    try {
      const bytes = await file.arrayBuffer();
      worker.postMessage({ file: bytes, name: file.name }, [bytes]);
    } catch (why) {
      ask({ "no-file": String(why) });
    }
    table.focus();
  }

  function cell(event) {
    if (!frame.svg) return null;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(frame.svg.getScreenCTM().inverse());
    const [x, y] = [Math.floor(point.x / CELL.width), Math.floor(point.y / CELL.height)];
    return x >= 0 && y >= 0 && x < frame.columns && y < frame.rows ? [x, y] : null;
  }

  let moved = "";
  function listen() {
    addEventListener("keydown", (event) => {
      // Those with modifiers belong to the browser.
      if (event.ctrlKey || event.metaKey || event.altKey || event.target === chooser) return;
      event.preventDefault();
      ask({ key: { key: event.key, shift: event.shiftKey } });
    });
    addEventListener("paste", (event) => ask({ paste: event.clipboardData.getData("text") }));
    table.addEventListener("click", (event) => {
      const at = cell(event);
      if (at && !String(getSelection())) ask({ click: at });
    });
    table.addEventListener("contextmenu", (event) => {
      const at = cell(event);
      if (!at) return;
      event.preventDefault();
      ask({ "secondary-click": at });
    });
    table.addEventListener("pointermove", (event) => {
      const at = cell(event);
      if (!at || event.pointerType === "touch" || String(at) === moved) return;
      moved = String(at);
      ask({ move: at });
    });
    table.addEventListener("wheel", (event) => ask({ scroll: Math.sign(event.deltaY) || 1 }), { passive: true });
    chooser.addEventListener("change", () => {
      check(chooser.files[0]);
      chooser.value = "";
    });
    addEventListener("dragover", (event) => {
      event.preventDefault();
      table.classList.add("drop");
    });
    addEventListener("dragleave", () => table.classList.remove("drop"));
    addEventListener("drop", (event) => {
      event.preventDefault();
      table.classList.remove("drop");
      check(event.dataTransfer.files[0]);
    });
    let resized = 0;
    addEventListener("resize", () => {
      clearTimeout(resized);
      resized = setTimeout(() => ask({ size: size() }), 100);
    });
  }

  async function start() {
    const packed = Uint8Array.from(atob(text("module")), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const module = await WebAssembly.compile(await new Response(unpacked).arrayBuffer());
    const source = new Blob([text("worker")], { type: "text/javascript" });
    worker = new Worker(URL.createObjectURL(source));
    worker.onmessage = ({ data }) => (data.fault === undefined ? show(data.answer) : fault(data.fault));
    worker.onerror = (event) => fault(`The page has stopped: ${event.message}. Load it again.`);
    const [columns, rows] = size();
    const seed = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0"));
    const begin = {
      columns,
      rows,
      seed: seed.join(""),
      today: new Date().toISOString().slice(0, 10),
      light: matchMedia("(prefers-color-scheme: light)").matches,
      settings: saved(),
    };
    worker.postMessage({ module, start: begin });
    listen();
    table.focus();
  }

  start().catch((why) => fault(`This browser cannot run the page: ${why}. A current Firefox, Chrome or Safari can; so can \
fairdeal verify FILE.`));
})();
