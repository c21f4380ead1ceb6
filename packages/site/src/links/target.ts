/** A parsed link target. */
interface Target {
  /** Percent-decoded path. "" if the link stays on its page. */
  path: string;
  /** Percent-decoded fragment without `#`. Null if there is none. */
  hash: string | null;
}

const scheme = /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/\/|\\\\)/;
// Templates, variables and names such as `ITS_URL`: only the site's build knows their values.
const template = /\{\{|\{%|\$\{|<%|^\{|%7B%7B|\$[A-Z_]+\b|^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/;

export function isExternal(target: string): boolean {
  const first = target.charCodeAt(0);
  // A fast path: most targets start with a slash, a dot or a hash.
  if (first === 46 || first === 35 || (first === 47 && target.charCodeAt(1) !== 47)) return false;
  return scheme.test(target);
}

export function isTemplate(target: string): boolean {
  return template.test(target);
}

export function decodePath(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function splitTarget(target: string): Target {
  const hashAt = target.indexOf("#");
  const beforeHash = hashAt === -1 ? target : target.slice(0, hashAt);
  const queryAt = beforeHash.indexOf("?");
  return {
    path: decodePath(queryAt === -1 ? beforeHash : beforeHash.slice(0, queryAt)),
    hash: hashAt === -1 ? null : decodePath(target.slice(hashAt + 1)),
  };
}

/**
 * The range of the fragment's id in a target as written: after `#`, up to the quote inside a template tag, or in
 * Docsify's `?id=`. Null if there is none.
 */
export function idRange(written: string, framework: string): readonly [start: number, end: number] | null {
  const own = framework === "docsify" ? /[?&]id=([^&#]*)/.exec(written) : null;
  if (own !== null) return [own.index + 4, own.index + own[0].length];
  const hash = written.indexOf("#");
  if (hash === -1) return null;
  const quoted = /^\{[{%]/.test(written) ? /["'`\s]/.exec(written.slice(hash)) : null;
  return [hash + 1, quoted === null ? written.length : hash + quoted.index];
}

/** Everything after the path, as written. */
export function tailOf(target: string): string {
  return /[?#][\s\S]*$/.exec(target)?.[0] ?? "";
}

/** The folder of a path, without trailing slash; "" at the root. */
export function dirOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "" : path.slice(0, slash);
}

export function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Joins paths and resolves `.` and `..`. Null if the path goes above the root. */
export function joinPath(dir: string, path: string): string | null {
  if (dir === "" && !path.includes("./") && !path.includes("//")) return path.replace(/\/$/, "");
  const out: string[] = [];
  for (const part of `${dir}/${path}`.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (out.pop() === undefined) return null;
    } else out.push(part);
  }
  return out.join("/");
}

export function relativePath(fromDir: string, to: string): string {
  const from = fromDir === "" ? [] : fromDir.split("/");
  const parts = to.split("/");
  let shared = 0;
  while (shared < from.length && shared < parts.length - 1 && from[shared] === parts[shared]) shared++;
  return [...from.slice(shared).map(() => ".."), ...parts.slice(shared)].join("/");
}

export const pageExtension = /\.(?:md|mdx|markdown)$/i;

export function stripExtension(path: string): string {
  return path.replace(pageExtension, "");
}

const routeTail = /(?:\.(?:md|mdx|markdown|html))$/i;

/** Routes are compared without trailing slash, `index` and extension; the root is "". */
export function routeKey(route: string): string {
  let key = route.startsWith("/") ? route.slice(1) : route;
  if (key.endsWith("/")) key = key.slice(0, -1);
  if (routeTail.test(key)) key = key.replace(routeTail, "");
  if (key === "index") return "";
  if (key.endsWith("/index")) key = key.slice(0, -6);
  return key;
}

export function isBelow(path: string, dir: string): boolean {
  return dir === "" || path.startsWith(`${dir}/`);
}

export function underDir(dir: string, path: string): string {
  return dir === "" ? path : `${dir}/${path}`;
}
