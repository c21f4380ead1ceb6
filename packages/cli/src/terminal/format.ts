export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** A time for tables: minutes, in UTC. */
export function minute(time: Date | string): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/**
 * Removes control characters, which could move the cursor or forge lines: the text may come from a repository, a model
 * or a server.
 */
export function safeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (character) =>
    character === "\n" || character === "\t" ? " " : "\ufffd",
  );
}

/** Wraps at spaces. A longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return line === "" ? lines : [...lines, line];
}

/** Columns as wide as their widest cell. The first row is the header. */
export function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(safeText));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A Markdown summary as plain text: wrapped paragraphs and lists, without marks for emphasis and code. */
export function markdownLines(markdown: string, width: number): string[] {
  const lines: string[] = [];
  for (const raw of markdown.split(/\r?\n/)) {
    const [, indent = "", bullet = "", rest = ""] = /^(\s*)((?:[-*+]|\d+\.)\s+)?(.*)$/.exec(raw) ?? [];
    const text = plain(rest);
    if (text === "") {
      if (lines.at(-1) !== "") lines.push("");
      continue;
    }
    const margin = indent.replaceAll("\t", "  ") + (bullet ? "· " : "");
    const hanging = " ".repeat(margin.length);
    lines.push(...wrap(text, width - margin.length).map((line, index) => (index === 0 ? margin : hanging) + line));
  }
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

function plain(text: string): string {
  return safeText(text)
    .replace(/^#{1,6}\s+/, "")
    .replaceAll(/\*\*(.+?)\*\*/g, "$1")
    .replaceAll(/`([^`]+)`/g, "$1")
    .replaceAll(/\[([^\]]+)\]\([^)\s]+\)/g, "$1")
    .trim();
}
