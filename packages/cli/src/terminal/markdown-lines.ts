import { safeText, wrap } from "./format.ts";

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
