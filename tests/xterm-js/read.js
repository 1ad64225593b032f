// Writes the files named after the size to xterm.js, one after the other, and prints each screen as a line of JSON:
// rows of cells, a cell as [text, ink, ground, bold, underlined, reversed]. A colour is "d", "i" with an index, or "#rrggbb".
import { readFileSync } from "node:fs";
import xterm from "@xterm/headless";

const [cols, rows, ...files] = process.argv.slice(2);
const terminal = new xterm.Terminal({ cols: Number(cols), rows: Number(rows), allowProposedApi: true });

const colour = (isDefault, isPalette, value) =>
  isDefault ? "d" : isPalette ? `i${value}` : `#${value.toString(16).padStart(6, "0")}`;

function screen() {
  const lines = [];
  for (let y = 0; y < terminal.rows; y++) {
    const line = terminal.buffer.active.getLine(terminal.buffer.active.viewportY + y);
    const cells = [];
    for (let x = 0; x < terminal.cols; x++) {
      const cell = line.getCell(x);
      cells.push([
        cell.getChars(),
        colour(cell.isFgDefault(), cell.isFgPalette(), cell.getFgColor()),
        colour(cell.isBgDefault(), cell.isBgPalette(), cell.getBgColor()),
        cell.isBold() !== 0,
        cell.isUnderline() !== 0,
        cell.isInverse() !== 0,
      ]);
    }
    lines.push(cells);
  }
  return lines;
}

for (const file of files) {
  await new Promise((done) => terminal.write(readFileSync(file), done));
  console.log(JSON.stringify(screen()));
}
