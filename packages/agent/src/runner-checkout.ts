import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isFault } from "@emend/base/fault.ts";
import { asRead, base64Core } from "@emend/base/secrets/scan-secrets.ts";
import { type Overlay, readOrSkip, type Tree } from "@emend/tree";
import { AgentFault } from "./faults.ts";

/** A file's state when it was written. Unchanged files need not be read again. */
interface Written {
  size: number;
  ctimeMs: number;
  ino: number;
}

const checkoutBytesMax = 2 * 2 ** 30;

/**
 * Settings that make agent programs run commands. An untrusted repository must not set them, so they are neither shown
 * to the program nor accepted from it.
 */
const settingsOfAgents =
  /(?:^|\/)(?:\.claude|\.codex|\.opencode|\.cursor|\.gemini)(?:\/|$)|(?:^|\/)(?:\.mcp\.json|opencode\.jsonc?)$/i;

/** Folders that a program may create for itself. */
const notDocs = /(?:^|\/)(?:\.git|node_modules)(?:\/|$)/i;

function isLeftOut(path: string): boolean {
  return settingsOfAgents.test(path) || notDocs.test(path);
}

/** Writes a tree's files, without links and submodules, into an empty folder. It contains no git repository. */
export async function checkOut(tree: Tree, folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, Written>> {
  const written = new Map<string, Written>();
  const folders = new Set<string>();
  let bytes = 0;
  for (const { path, mode, size } of await tree.list()) {
    signal.throwIfAborted();
    if ((mode !== "100644" && mode !== "100755") || isLeftOut(path)) continue;
    bytes += size ?? 0;
    if (bytes > checkoutBytesMax) throw tooLarge();
    const content = await readOrSkip(tree, path);
    if (content === null) continue;
    const target = join(folder, path);
    if (!folders.has(dirname(target))) await mkdir(dirname(target), { recursive: true });
    folders.add(dirname(target));
    // `wx` follows no link and overwrites nothing, even if the file system ignores case.
    await writeFile(target, content, { flag: "wx", mode: mode === "100755" ? 0o755 : 0o644 }).catch((error) => {
      throw error.code === "EEXIST" ? sameName(path, error) : error;
    });
    const { size: onDisk, ctimeMs, ino } = await lstat(target);
    written.set(path, { size: onDisk, ctimeMs, ino });
  }
  return written;
}

function sameName(path: string, cause: unknown): AgentFault {
  return new AgentFault("repository_unavailable", {
    publicMessage: `The repository has two files whose names differ only in case or accents, which this server's disk cannot keep apart: ${path}. Rename one, or use a model instead of a runner.`,
    cause,
  });
}

function tooLarge(): AgentFault {
  return new AgentFault("repository_unavailable", {
    publicMessage: `The repository has more than ${checkoutBytesMax / 2 ** 30} GiB of files, too many for a runner's checkout.`,
  });
}

const entriesMax = 200_000;
const fileBytesMax = 16 * 2 ** 20;

/**
 * The program's changes, as edits of the overlay, which checks every path. Links, devices and sockets are ignored. The
 * program has ended by now.
 */
export async function collectEdits(
  input: { folder: string; written: ReadonlyMap<string, Written>; overlay: Overlay; secret: string },
  signal: AbortSignal,
): Promise<void> {
  const { folder, written, overlay } = input;
  const found = await walk(folder, signal);
  for (const path of written.keys()) {
    if (!found.has(path)) await guarded(path, () => overlay.delete(path));
  }
  for (const [path, now] of found) {
    signal.throwIfAborted();
    const before = written.get(path);
    // Checked first, because every other refusal names the path.
    if (!before && holdsSecret(Buffer.from(path), input.secret))
      throw refused("a file's name", "it holds the model's key");
    if (before && before.ino === now.ino && before.size === now.size && before.ctimeMs === now.ctimeMs) continue;
    const content = await readPlain(join(folder, path), path);
    if (content.equals((await overlay.read(path)) ?? noBytes) && before) continue;
    if (holdsSecret(content, input.secret)) throw refused(path, "it holds the model's key");
    await guarded(path, () => overlay.set(path, content));
  }
}

const noBytes = Buffer.alloc(0);

/** Plain files by path. Names that are not UTF-8 are ignored. */
async function walk(folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, Written>> {
  const files = new Map<string, Written>();
  const folders = [""];
  let entries = 0;
  for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
    signal.throwIfAborted();
    for (const entry of await readdir(Buffer.from(join(folder, below)), { withFileTypes: true, encoding: "buffer" })) {
      entries += 1;
      if (entries > entriesMax) throw refused("the change", `it has more than ${entriesMax} files`);
      const name = entry.name.toString();
      const path = below === "" ? name : `${below}/${name}`;
      if (!Buffer.from(name).equals(entry.name) || isLeftOut(path)) continue;
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile()) continue;
      const { size, ctimeMs, ino } = await lstat(join(folder, path));
      files.set(path, { size, ctimeMs, ino });
    }
  }
  return files;
}

/** Never follows a link, opens a device, or reads more than the size limit. */
async function readPlain(file: string, path: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw refused(path, "it is no plain file");
    // A hard link to a file elsewhere on the disk is not part of the change.
    if (stats.nlink > 1) throw refused(path, "it is a hard link");
    if (stats.size > fileBytesMax) throw refused(path, `a file has at most ${fileBytesMax / 2 ** 20} MiB`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function guarded(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (isFault(error, "invalid_request")) throw refused(path, error.publicMessage);
    throw error;
  }
}

function refused(path: string, why: string): AgentFault {
  return new AgentFault("policy_denied", {
    publicMessage: `The runner's change was refused: ${JSON.stringify(path.slice(0, 200))}: ${why}`,
  });
}

/**
 * Whether bytes contain a secret, as it is, after decoding references and escapes, in hex, or in base64 (both
 * alphabets, any alignment). A determined program finds other ways; this stops what a model can be talked into.
 */
export function holdsSecret(content: Buffer, secret: string): boolean {
  if (secret.length < 8) return false;
  const bytes = Buffer.from(secret);
  if (content.includes(bytes) || asRead(content.toString()).includes(secret)) return true;
  const text = content.toString("latin1").replaceAll(/[\r\n]/g, "");
  if (text.toLowerCase().includes(bytes.toString("hex"))) return true;
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  return [0, 1, 2].some((lead) => plain.includes(base64Core(bytes, lead)));
}
