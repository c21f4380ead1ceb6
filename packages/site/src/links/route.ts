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
