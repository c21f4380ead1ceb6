import type { LinkKind } from "./facts.ts";

type Add = (kind: LinkKind, start: number, end: number) => unknown;

const importStatement = /\bimport\s+(?:[\w$*{},\s]{1,1000}?\sfrom\s+)?(["'])([^"'\n]+)\1/g;

/** Local files that MDX imports. Packages are not ours to check. */
export function readModules(text: string, start: number, end: number, add: Add): void {
  const source = text.slice(start, end);
  for (const found of source.matchAll(importStatement)) {
    const target = found[2] as string;
    if (!/^(?:\.{1,2}\/|\/|@site\/)/.test(target)) continue;
    const from = start + found.index + found[0].length - 1 - target.length;
    add("include", from, from + target.length);
  }
}

const templateTarget = /^\{%-?\s*(?:(content-ref|embed|include|file)\s+)?(?:[^%"]*?\b(?:url|src)=)?"([^"]*)"/;

const includeComment = /^<!--\s*@include:\s*([^\s{}>]+?)(?=\s|\{|-->)/;

/** `{% content-ref url="page.md" %}` and `<!-- @include: part.md -->`. */
export function readInclude(text: string, start: number, end: number, add: Add): void {
  if (text.charCodeAt(start) === 60) {
    const comment = includeComment.exec(text.slice(start, Math.min(end, start + 500)));
    const path = comment?.[1]?.split("#")[0];
    if (comment === null || path === undefined || path === "") return;
    const at = start + comment[0].length - (comment[1] as string).length;
    add("include", at, at + path.length);
    return;
  }
  const found = templateTarget.exec(text.slice(start, end));
  if (found?.[1] === undefined || found[1] === "embed") return;
  const target = found[2] as string;
  const from = start + found[0].length - 1 - target.length;
  add(found[1] === "content-ref" ? "href" : found[1] === "file" ? "src" : "include", from, from + target.length);
}
