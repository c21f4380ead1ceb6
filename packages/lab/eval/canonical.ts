import { posix } from "node:path";
import { parse } from "yaml";
import type { Files } from "./site-model.ts";

/** A tree without what readers do not see: quotes, blank lines, list markers, the spelling of links. */
export function canonicalTree(files: Files): ReadonlyMap<string, string> {
  return new Map(Object.entries(files).map(([path, text]) => [path, canonicalFile(path, text, files)]));
}

function canonicalFile(path: string, text: string, files: Files): string {
  try {
    if (path.endsWith(".json")) return JSON.stringify(sorted(JSON.parse(text)));
    if (/\.ya?ml$/.test(path)) return JSON.stringify(sorted(parse(text)));
  } catch (error) {
    return `not readable: ${error instanceof Error ? error.message : error}`;
  }
  if (/config\.js$|^sidebars\.js$/.test(path)) {
    return text
      .replaceAll('"', "'")
      .replace(/\s+/g, "")
      .replace(/,([\]}])/g, "$1");
  }
  if (!/\.mdx?$/.test(path)) return text;
  const { meta, body } = withTitle(splitPage(text));
  const lines = withoutLinkSpelling(path, body, files)
    .split("\n")
    .map((line) => line.trimEnd().replace(/^(\s*)[*+] /, "$1- "));
  return `${JSON.stringify(sorted(meta))}\n${lines
    .join("\n")
    .replace(/\n{2,}/g, "\n\n")
    .trim()}`;
}

/** A page's title is in its front matter or its first heading, depending on the framework. */
function withTitle(page: { meta: unknown; body: string }): { meta: unknown; body: string } {
  const heading = /^\s*# (.+)\n/.exec(page.body);
  if (!heading || (page.meta as { title?: unknown } | null)?.title) return page;
  return { meta: { ...(page.meta as object), title: heading[1] }, body: page.body.slice(heading[0].length) };
}

export function splitPage(text: string): { meta: unknown; body: string } {
  const matter = /^---\n([\s\S]*?)\n---\n/.exec(text);
  if (!matter) return { meta: {}, body: text };
  try {
    return { meta: parse(matter[1] ?? ""), body: text.slice(matter[0].length) };
  } catch {
    return { meta: matter[1], body: text.slice(matter[0].length) };
  }
}

const link = /\]\(([^)\s]+)\)/g;

function withoutLinkSpelling(path: string, body: string, files: Files): string {
  return body.replace(link, (_whole, to: string) => `](${resolveLink(path, to, files) ?? to})`);
}

/** `path#anchor` of a link's target file, or null. Uses only file names, not the product's index. */
function resolveLink(from: string, to: string, files: Files): string | null {
  if (/^[a-z]+:/i.test(to)) return to;
  const [address = "", anchor] = to.split("#");
  const suffix = anchor === undefined ? "" : `#${anchor}`;
  if (address === "") return `${from}${suffix}`;
  const place = address.startsWith("/") ? address.slice(1) : posix.join(posix.dirname(from), address);
  const candidates = [place, `docs/${place}`].flatMap((at) => [at, `${at}.md`, `${at}.mdx`, `${at}/index.md`]);
  const found = candidates.map((at) => at.replace(/\/$/, "")).find((at) => files[at] !== undefined);
  return found === undefined ? null : `${found}${suffix}`;
}

/** Broken links and anchors, by file names and headings only. */
export function deadLinks(files: Files): readonly string[] {
  return Object.entries(files)
    .filter(([path]) => /\.mdx?$/.test(path))
    .flatMap(([path, text]) => {
      const prose = text.replace(/^```[\s\S]*?^```/gm, "");
      const targets = [...prose.matchAll(link)].map(([, to = ""]) => to);
      return targets.filter((to) => !isAlive(path, to, files)).map((to) => `${path} links to ${to}`);
    });
}

function isAlive(path: string, to: string, files: Files): boolean {
  const resolved = resolveLink(path, to, files);
  if (resolved === null) return false;
  if (/^[a-z]+:/i.test(resolved)) return true;
  const [target = "", anchor] = resolved.split("#");
  return anchor === undefined || anchorsOf(files[target] ?? "").includes(anchor);
}

function anchorsOf(text: string): readonly string[] {
  const headings = text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, words = ""]) =>
    words
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s+/g, "-"),
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([, inner]) => !(Array.isArray(inner) && inner.length === 0));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]));
}
