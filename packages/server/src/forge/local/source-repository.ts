import { cp, lstat, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { AppError } from "../../errors.ts";

/** The data of somebody's repository: refs, default branch, objects. */
export interface SourceRepository {
  /** A repository of our own, with our configuration, that borrows the source's objects. */
  gitDir: string;
  objectFormat: "sha1" | "sha256";
  /** Null if HEAD names no branch. */
  headBranch: string | null;
  dispose(): Promise<void>;
}

/** The git directory of a work tree, a linked work tree or a bare repository. Null if `path` is none of them. */
export async function findGitDir(path: string): Promise<string | null> {
  const candidates = [path, join(path, ".git")];
  for (const candidate of candidates) {
    const gitDir = await followGitFile(candidate);
    if (gitDir && (await exists(join(gitDir, "HEAD"))) && (await exists(join(await commonDir(gitDir), "objects")))) {
      return gitDir;
    }
  }
  return null;
}

/**
 * Opens an untrusted repository without letting git read its configuration, which can name programs to run (a
 * promisor's upload-pack, a hook). Refs are copied as files, and objects are borrowed through `alternates`. Nothing is
 * written to the source.
 */
export async function openSourceRepository(gitDir: string): Promise<SourceRepository> {
  const common = await commonDir(gitDir);
  const config = await readText(join(common, "config"));
  if (/^\s*refStorage\s*=\s*reftable/im.test(config)) {
    throw new AppError("invalid_request", {
      publicMessage: "This repository uses reftable, which Emend cannot import. Clone it with plain refs first.",
    });
  }
  const objectFormat = /^\s*objectFormat\s*=\s*sha256/im.test(config) ? "sha256" : "sha1";
  const shadow = await mkdtemp(join(tmpdir(), "emend-import-"));
  const dispose = () => rm(shadow, { recursive: true, force: true });
  try {
    const head = (await readText(join(gitDir, "HEAD"))).trim();
    await mkdir(join(shadow, "objects", "info"), { recursive: true });
    await mkdir(join(shadow, "refs"));
    await writeFile(join(shadow, "objects", "info", "alternates"), `${await realpath(join(common, "objects"))}\n`);
    await writeFile(join(shadow, "config"), configOf(objectFormat));
    await writeFile(join(shadow, "HEAD"), "ref: refs/heads/none\n");
    for (const name of ["packed-refs", "shallow", "refs/heads", "refs/tags"]) {
      await copyPlain(join(common, name), join(shadow, name));
    }
    return { gitDir: shadow, objectFormat, headBranch: /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? null, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function configOf(objectFormat: "sha1" | "sha256"): string {
  return objectFormat === "sha256"
    ? "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
    : "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
}

/** Files and folders only: a symbolic link could point anywhere. */
async function copyPlain(from: string, to: string): Promise<void> {
  if (!(await exists(from))) return;
  await cp(from, to, {
    recursive: true,
    filter: async (path) => {
      const stat = await lstat(path);
      return stat.isFile() || stat.isDirectory();
    },
  });
}

/** A linked work tree has a file that names its git directory. */
async function followGitFile(path: string): Promise<string | null> {
  const stat = await lstat(path).catch(() => null);
  if (stat?.isDirectory()) return path;
  if (!stat?.isFile() || stat.size > 4_096) return null;
  const target = /^gitdir: (.+)$/m.exec(await readText(path))?.[1];
  return target ? resolve(dirname(path), target.trim()) : null;
}

/** Linked work trees share refs and objects with their main repository. */
async function commonDir(gitDir: string): Promise<string> {
  const target = (await readText(join(gitDir, "commondir"))).trim();
  return target === "" ? gitDir : resolve(gitDir, target);
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
