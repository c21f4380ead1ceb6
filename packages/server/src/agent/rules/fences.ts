import type { Token } from "./tokens.ts";

const opening = /(`{3,}|~{3,})[^`\n]*(?:\n|$)/y;
const indentMax = 20;

/** A fenced block that begins here: after a colon too, where its line holds nothing more. */
export function fenceAt(text: string, start: number): Token | "unclosed" | null {
  const mark = text.charAt(start);
  if (mark !== "`" && mark !== "~") return null;
  const indent = indentBefore(text, start);
  if (mark === "~" && indent === null) return null;
  opening.lastIndex = start;
  const [line, fence] = opening.exec(text) ?? [];
  if (line === undefined || fence === undefined) return null;

  const lines: string[] = [];
  for (let at = start + line.length; at < text.length; ) {
    const lineEnd = text.indexOf("\n", at);
    const content = text.slice(at, lineEnd === -1 ? text.length : lineEnd);
    if (closes(content.trim(), fence)) {
      return { kind: "fence", text: lines.join("\n"), start, end: at + content.length };
    }
    lines.push(withoutIndent(content, indent ?? 0));
    at += content.length + 1;
  }
  return "unclosed";
}

function closes(line: string, fence: string): boolean {
  return line.startsWith(fence) && line === fence.charAt(0).repeat(line.length);
}

/** How far a line that begins here is indented; null where something else stands before. */
function indentBefore(text: string, at: number): number | null {
  for (let back = 0; back <= indentMax; back += 1) {
    const before = text.charAt(at - back - 1);
    if (before === "" || before === "\n") return back;
    if (before !== " " && before !== "\t") return null;
  }
  return null;
}

function withoutIndent(line: string, indent: number): string {
  const own = line.length - line.trimStart().length;
  return line.slice(Math.min(own, indent));
}
