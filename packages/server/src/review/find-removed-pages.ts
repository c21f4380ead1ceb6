import type { Finding } from "@emend/site";
import type { OverlayEntry, Tree } from "../tree/tree.ts";
import { kindOf } from "./policy.ts";

/** A page with fewer of its lines elsewhere in the change did not move. */
const movedShare = 0.5;

/** Pages that a change deletes, their text with them, though nobody who asked for it named them. */
export async function findRemovedPages(
  base: Tree,
  entries: readonly OverlayEntry[],
  asked: readonly string[],
): Promise<readonly Finding[]> {
  const gone = entries.filter(({ path, content }) => content === null && kindOf(path) === "document");
  if (gone.length === 0) return [];
  const said = asked.map(wordsOf).join(" ");
  const kept = new Set(entries.flatMap(({ content }) => linesOf(content?.toString() ?? "")));
  const findings: Finding[] = [];
  for (const { path } of gone) {
    const text = (await base.read(path))?.toString() ?? "";
    const lines = linesOf(text);
    const isMoved = lines.length > 0 && lines.filter((line) => kept.has(line)).length >= lines.length * movedShare;
    if (isMoved || namesOf(path, text).some((name) => name !== "" && ` ${said} `.includes(` ${name} `))) continue;
    const message = "this page was deleted, and the request does not name it";
    findings.push({ check: "deleted-page", severity: "error", path, line: 1, column: 1, message });
  }
  return findings;
}

/** Its path and the folders of it, its name, its titles. */
function namesOf(path: string, text: string): readonly string[] {
  const bare = path.replace(/\.\w+$/, "").replace(/\/(?:index|readme)$/i, "");
  const segments = bare.split("/");
  const folders = segments.slice(0, -1).map((_, index) => segments.slice(0, index + 1).join("/"));
  const title = /^title:[ \t]*(.+)$/m.exec(text)?.[1] ?? "";
  const heading = /^#[ \t]+(.+)$/m.exec(text)?.[1] ?? "";
  return [
    path,
    bare,
    segments.at(-1) ?? "",
    title,
    heading,
    ...folders.filter((one) => one.includes("/") || one.length > 3),
  ].map(wordsOf);
}

function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length > 3);
}
