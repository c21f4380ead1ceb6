const document = /\.(?:mdx?|markdown|mdoc|rst|ipynb|html?)$/i;
const front = /(?:^|\/)(?:index|readme|_index)$/i;

/** Joins as file systems do. Null above the top. */
export function join(dir: string, path: string): string | null {
  const out: string[] = [];
  for (const part of `${dir}/${path}`.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") out.push(part);
    else if (out.pop() === undefined) return null;
  }
  return out.join("/");
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** A page's path without extension, or its folder if it is the folder's front page. */
export function nameOf(path: string): string {
  const bare = path.replace(document, "");
  return front.test(bare) ? parentOf(bare) : bare;
}

export function isFront(path: string): boolean {
  return front.test(path.replace(document, ""));
}

/** How generators turn a page's name into an address. */
const spellings: Readonly<Record<string, (name: string) => string>> = {
  plain: (name) => name,
  // Numbers that only sort, and folders in parentheses.
  sorted: (name) => name.replace(/(^|\/)\d+\s*[-_.]+\s*(?=[^/\d])/g, "$1").replace(/(^|\/)\([^)/]+\)(?=\/|$)/g, ""),
  lower: (name) => name.toLowerCase().replace(/[\s.]+/g, "-"),
  slugged: (name) =>
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s/_-]/gu, "")
      .replace(/\s/g, "-"),
};

/** Front matter that decides a page's address. */
export const addressFields: readonly string[] = ["slug", "permalink", "url", "id"];

const field = /^(slug|permalink|url|id):[ \t]*['"]?([^'"\r\n]*?)['"]?[ \t]*\r?$/gm;

/** Every address that a page may have, by the way that it is made. */
export function addressesOf(path: string, text: string): Map<string, string> {
  const found = new Map<string, string>();
  const name = nameOf(path);
  for (const [spelling, write] of Object.entries(spellings)) {
    const address = write(name)
      .replace(/\/{2,}/g, "/")
      .replace(/^\/|\/$/g, "");
    if (![...found.values()].includes(address)) found.set(spelling, address);
  }
  const head = /^---\r?\n([\s\S]*?)\n---/.exec(text.slice(0, 4000))?.[1] ?? "";
  for (const [, key = "", value = ""] of head.matchAll(field)) {
    const written = value.replace(document, "").replace(/\/$/, "");
    const below = isFront(path) ? name : parentOf(name);
    if (value === "") continue;
    found.set(key, value.startsWith("/") ? written.slice(1) : (join(below, written) ?? ""));
    if (!value.startsWith("/")) found.set(`${key} from the top`, written);
  }
  return found;
}

export function isDocument(path: string): boolean {
  return document.test(path);
}

export function withoutExtension(path: string): string {
  return path.replace(document, "");
}
