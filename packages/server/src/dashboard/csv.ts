/** `;`: as spreadsheets of half the world expect it, which also write 0,5 and guess at an encoding that no mark names. */
type CsvSeparator = "," | ";";
type Cell = string | number | null;

/** A whole file (RFC 4180, but for another separator). */
export function csvFile(lines: readonly (readonly Cell[])[], separator: CsvSeparator): string {
  return `${separator === ";" ? "\uFEFF" : ""}${lines.map((cells) => csvLine(cells, separator)).join("")}`;
}

/** One line. What a spreadsheet would take for a formula is made text: others wrote it. */
export function csvLine(cells: readonly Cell[], separator: CsvSeparator = ","): string {
  return `${cells.map((cell) => cellOf(cell, separator)).join(separator)}\r\n`;
}

const formula = /^[=+\-@＝＋－＠\t\r\n]/;
/** Where a spreadsheet that parts by another sign than ours would see a cell begin, whatever quotes stand around. */
const formulaInside = /([;,|\t\r\n]['"\s]*)([=+\-@＝＋－＠])/g;

function cellOf(value: Cell, separator: CsvSeparator): string {
  if (value === null) return "";
  if (typeof value === "number") return separator === ";" ? String(value).replace(".", ",") : String(value);
  const text = (formula.test(value) ? `'${value}` : value).replace(formulaInside, "$1'$2");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
