/** `;` is for spreadsheets with a decimal comma. It also gets a byte order mark, because they guess the encoding. */
type CsvSeparator = "," | ";";
type Cell = string | number | null;

/** A complete CSV file (RFC 4180, except for the separator). */
export function csvFile(lines: readonly (readonly Cell[])[], separator: CsvSeparator): string {
  return `${separator === ";" ? "\uFEFF" : ""}${lines.map((cells) => csvLine(cells, separator)).join("")}`;
}

/** One line. CSV injection: text that a spreadsheet would treat as a formula is escaped, because others wrote it. */
export function csvLine(cells: readonly Cell[], separator: CsvSeparator = ","): string {
  return `${cells.map((cell) => cellOf(cell, separator)).join(separator)}\r\n`;
}

const formula = /^[=+\-@＝＋－＠\t\r\n]/;
/** Where a spreadsheet with another separator would see a cell start, whatever quotes are around it. */
const formulaInside = /([;,|\t\r\n]['"\s]*)([=+\-@＝＋－＠])/g;

function cellOf(value: Cell, separator: CsvSeparator): string {
  if (value === null) return "";
  if (typeof value === "number") return separator === ";" ? String(value).replace(".", ",") : String(value);
  const text = (formula.test(value) ? `'${value}` : value).replace(formulaInside, "$1'$2");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
