// Runs inside the sandbox, and imports nothing of ours. Writes the files that come on standard input into the current
// folder, then runs the builder there, and packs the site that it built. The builder's output goes to standard output;
// standard error is only for us.
import { spawn } from "node:child_process";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { stdin } from "node:process";

interface Header {
  path: string;
  mode: number;
}

const [folder = ".", site = "", packed = "", program = "", ...args] = process.argv.slice(2);
const packedBytesMax = 192 * 2 ** 20;

/** Blocks of the input: a length of four bytes, then that many bytes. */
async function* blocks(): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  let wanted: number | null = null;
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    parts.push(chunk);
    length += chunk.byteLength;
    if (length < (wanted ?? 4)) continue;
    held = Buffer.concat(parts);
    for (;;) {
      if (wanted === null && held.byteLength >= 4) {
        wanted = held.readUInt32BE(0);
        held = held.subarray(4);
      }
      if (wanted === null || held.byteLength < wanted) break;
      yield held.subarray(0, wanted);
      held = held.subarray(wanted);
      wanted = null;
    }
    parts = [held];
    length = held.byteLength;
  }
}

async function unpack(): Promise<void> {
  let header: Header | null = null;
  const folders = new Set<string>();
  for await (const block of blocks()) {
    if (header === null) {
      header = JSON.parse(block.toString()) as Header;
      continue;
    }
    const { path, mode } = header;
    header = null;
    const parent = dirname(path);
    if (!folders.has(parent)) mkdirSync(parent, { recursive: true });
    folders.add(parent);
    writeFileSync(path, block, { flag: "wx", mode });
  }
}

/** The plain files of the built site, in blocks as they came. A site that is too large leaves an empty file. */
function packSite(): void {
  const root = resolve(folder, site);
  const file = openSync(packed, "w");
  let left = packedBytesMax;
  function write(bytes: Buffer): void {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.byteLength);
    left -= bytes.byteLength + length.byteLength;
    if (left < 0) throw new Error("the site is too large");
    for (const part of [length, bytes]) for (let at = 0; at < part.byteLength; at += writeSync(file, part, at));
  }
  try {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.endsWith(".map")) continue;
      const path = join(entry.parentPath, entry.name);
      write(Buffer.from(JSON.stringify({ path: relative(root, path) })));
      write(readFileSync(path));
    }
  } catch {
    ftruncateSync(file);
  }
  closeSync(file);
}

function fail(error: unknown): void {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

unpack()
  .then(() => {
    const child = spawn(program, args, { cwd: folder, stdio: ["ignore", 1, 1] });
    child.on("error", fail);
    child.on("exit", (code, signal) => {
      if (code === 0 && site !== "") packSite();
      process.exit(code ?? (signal ? 128 : 1));
    });
  })
  .catch(fail);
