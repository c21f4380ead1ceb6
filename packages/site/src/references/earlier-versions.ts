// `v8`, `90.v8`, `version-2.x`, `1.15`
const version = /^(?:\d+\.)?(?:v|version-)(\d+(?:\.(?:\d+|x))*)$|^(\d+(?:\.(?:\d+|x))+)$/i;
const unreleased = /^(?:main|master|next|edge|latest|current|unreleased|canary)$/i;

interface Version {
  /** The path of the folder around it. */
  parent: string;
  numbers: readonly number[];
  isReleased: boolean;
}

/** Which paths are in a folder of an earlier version that lies beside a later one: `docs/v1/` beside `docs/v2/` or `docs/next/`. */
export function findEarlierVersions(paths: Iterable<string>): (path: string) => boolean {
  const newest = new Map<string, readonly number[]>();
  for (const path of paths) {
    for (const { parent, numbers } of versionsIn(path)) {
      const known = newest.get(parent);
      if (known === undefined || isBefore(known, numbers, -1)) newest.set(parent, numbers);
    }
  }
  // `v1` is not before `v1.2`: it may stand for all of them.
  return (path) =>
    versionsIn(path).some(
      ({ parent, numbers, isReleased }) => isReleased && isBefore(numbers, newest.get(parent) ?? [], Infinity),
    );
}

const versionsMax = 5;

function versionsIn(path: string): Version[] {
  const found: Version[] = [];
  for (
    let start = 0, end = path.indexOf("/");
    end !== -1 && found.length < versionsMax;
    start = end + 1, end = path.indexOf("/", start)
  ) {
    const name = path.slice(start, end);
    const [, prefixed, plain] = version.exec(name) ?? [];
    const numbers = (prefixed ?? plain)?.split(".").map((part) => (/x/i.test(part) ? Infinity : Number(part)));
    const parent = path.slice(0, start);
    if (numbers !== undefined) found.push({ parent, numbers, isReleased: true });
    else if (unreleased.test(name)) found.push({ parent, numbers: [Infinity], isReleased: false });
  }
  return found;
}

/** `missing`: what a part counts that one of them does not have. */
function isBefore(one: readonly number[], other: readonly number[], missing: number): boolean {
  const at = other.findIndex((number, i) => number !== one[i]);
  return at !== -1 && (one[at] ?? missing) < (other[at] as number);
}
