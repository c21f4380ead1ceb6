import { spawn } from "node:child_process";
import { text as readText } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/**
 * The limit counts what the process may write to, array buffers included, of which Node itself takes about 550 MB before it
 * reads anything. A thread's limits do not count buffers: a PDF of 6 kB took 3.7 GB. macOS ignores it.
 */
const limits = { readMsMax: 20_000, memoryKbMax: 1_000_000 };
const program = fileURLToPath(new URL("./read-pdf-process.ts", import.meta.url));
export const documentCharactersMax = 100_000;

/** The text of a PDF, read in a process of its own: a hostile one uses up its time and memory, and no more. Null: it cannot be read. */
export async function readPdf(bytes: Buffer, { readMsMax, memoryKbMax } = limits): Promise<string | null> {
  const args = ["-c", 'ulimit -d "$1"; shift; exec "$@"', "sh", String(memoryKbMax), process.execPath, program];
  const child = spawn("/bin/sh", args, {
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
    timeout: readMsMax,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
  // It may end before it has read everything.
  child.stdin.on("error", () => {}).end(bytes);
  const [isRead, text] = await Promise.all([ended, readText(child.stdout).catch(() => "")]);
  return isRead ? text.toWellFormed().replaceAll("\0", "\uFFFD").slice(0, documentCharactersMax) : null;
}
