// `v8`, `90.v8`, `version-2.x`, `1.15`
const version = /^(?:\d+\.)?(?:v|version-)(\d+(?:\.(?:\d+|x))*)$|^(\d+(?:\.(?:\d+|x))+)$/i;
const unreleased = /^(?:main|master|next|edge|latest|current|dev|unreleased|canary)$/i;

/** Which paths are in a folder of an earlier version that lies beside a later one: `docs/v1/` beside `docs/v2/` or `docs/next/`. */
export function findEarlierVersions(paths: Iterable<string>): (path: string) => boolean {
  const newest = new Map<string, number[]>();
  for (const path of paths) {
    for (const { parent, name, numbers } of foldersOf(path)) {
      const found = numbers ?? (unreleased.test(name) ? [Infinity] : null);
      if (found !== null && isBefore(newest.get(parent) ?? [], found)) newest.set(parent, found);
    }
  }
  return (path) =>
    foldersOf(path).some(({ parent, numbers }) => numbers !== null && isBefore(numbers, newest.get(parent) ?? []));
}

function foldersOf(path: string) {
  const names = path.split("/").slice(0, -1);
  return names.map((name, i) => {
    const [, prefixed, plain] = version.exec(name) ?? [];
    const numbers = (prefixed ?? plain)?.split(".").map((part) => (part === "x" ? Infinity : Number(part))) ?? null;
    return { parent: names.slice(0, i).join("/"), name, numbers };
  });
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = other.findIndex((number, i) => number !== one[i]);
  return at !== -1 && (one[at] ?? -1) < (other[at] as number);
}
