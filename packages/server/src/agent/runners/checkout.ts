import { lstat, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, isAppError } from "../../errors.ts";
import type { Tree } from "../../tree/tree.ts";

/** How a file was when it was written: what is still the same need not be read again. */
export interface Written {
  size: number;
  ctimeMs: number;
  ino: number;
}

const bytesMax = 2 * 2 ** 30;

/**
 * Settings by which agent programs run commands: a repository nobody vouches for must not have them. They are neither
 * shown to the program nor taken from it.
 */
const settingsOfAgents =
  /(?:^|\/)(?:\.claude|\.codex|\.opencode|\.cursor|\.gemini)(?:\/|$)|(?:^|\/)(?:\.mcp\.json|opencode\.jsonc?)$/i;

/** Folders that a program may make for itself. */
const notDocs = /(?:^|\/)(?:\.git|node_modules)(?:\/|$)/i;

export function isLeftOut(path: string): boolean {
  return settingsOfAgents.test(path) || notDocs.test(path);
}

/** Writes a tree's files, and no link or submodule, into an empty folder. There is no git in it. */
export async function checkOut(tree: Tree, folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, Written>> {
  const written = new Map<string, Written>();
  const folders = new Set<string>();
  let bytes = 0;
  for (const { path, mode, size } of await tree.list()) {
    signal.throwIfAborted();
    if ((mode !== "100644" && mode !== "100755") || isLeftOut(path)) continue;
    bytes += size ?? 0;
    if (bytes > bytesMax) throw tooLarge();
    const content = await readOrSkip(tree, path);
    if (content === null) continue;
    const target = join(folder, path);
    if (!folders.has(dirname(target))) await mkdir(dirname(target), { recursive: true });
    folders.add(dirname(target));
    // `wx` follows no link and overwrites nothing, on a file system that folds case too.
    await writeFile(target, content, { flag: "wx", mode: mode === "100755" ? 0o755 : 0o644 });
    const { size: onDisk, ctimeMs, ino } = await lstat(target);
    written.set(path, { size: onDisk, ctimeMs, ino });
  }
  return written;
}

/** A file over the size limit stays where it is. */
async function readOrSkip(tree: Tree, path: string): Promise<Buffer | null> {
  try {
    return await tree.read(path);
  } catch (error) {
    if (isAppError(error, "invalid_request")) return null;
    throw error;
  }
}

function tooLarge(): AppError {
  return new AppError("repository_unavailable", {
    publicMessage: `The repository has more than ${bytesMax / 2 ** 30} GiB of files, too many for a runner's checkout.`,
  });
}
