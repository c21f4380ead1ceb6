/** ` ::: tip Title` of VitePress, `:::note Title` of Docusaurus, `:::{note} Title` of MyST. */
const colons = /^([ \t]*:{3,})[ \t]*\{?([a-z][\w-]*)\}?(?:[ \t]+([^[{\s][^{]*?))?[ \t]*(?:\{[^{}]*\})?$/i;
/** `!!! note "Title"` and `=== "Tab"` of Material. */
const exclamations = /^(?:!!!|\?\?\?\+?)[ \t]+([\w-]+)(?:[ \t]+[\w-]+)*(?:[ \t]+"(.*)")?[ \t]*$/;
const equals = /^===[!+]?[ \t]+"(.+)"[ \t]*$/;
const fence = /^[ \t]*(`{3,}|~{3,})/;
/** Containers inside of each other: a line with fewer colons does not end those around it. */
const depthMax = 8;

/** The containers of these builders, all written like `:::note[Title]`. Every line stays where it is. */
export function withContainers(text: string): string {
  return rewrite(text.split("\n"), 0).join("\n");
}

function rewrite(lines: readonly string[], depth: number): string[] {
  const written: string[] = [];
  let inFence = "";
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const [, marks = ""] = fence.exec(line) ?? [];
    if (inFence !== "") {
      if (marks.startsWith(inFence)) inFence = "";
      written.push(line);
      continue;
    }
    inFence = marks;
    const [, start, name = "", title] = colons.exec(line) ?? [];
    if (start !== undefined) {
      written.push(`${start}${name}${labelOf(title)}`);
      continue;
    }
    const [, kind, words] = exclamations.exec(line) ?? [null, "tab", equals.exec(line)?.[1]];
    const end = kind === "tab" && words === undefined ? -1 : blockEnd(lines, index + 1);
    if (end === -1 || depth === depthMax) {
      written.push(line);
      continue;
    }
    const marksOf = ":".repeat(3 + depthMax - depth);
    const body = lines.slice(index + 1, end).map((one) => one.replace(/^(?: {4}|\t)/, ""));
    written.push(`${marksOf}${kind}${labelOf(words)}`, ...rewrite(body, depth + 1));
    // It ends where a blank line was.
    if (end < lines.length) written.push(marksOf);
    index = end;
  }
  return written;
}

function labelOf(title: string | undefined): string {
  return title ? `[${title.replaceAll(/[[\]\\]/g, "\\$&")}]` : "";
}

/** Where the indented lines end, at a blank line or the end of the text; -1 if there are none. */
function blockEnd(lines: readonly string[], from: number): number {
  let [at, end] = [from, from];
  while (at < lines.length && /^(?: {4}|\t|[ \t]*$)/.test(lines[at] ?? "")) {
    at += 1;
    if (lines[at - 1]?.trim() !== "") end = at;
  }
  return end === from || (end === at && at < lines.length) ? -1 : end;
}
