import { Worker } from "node:worker_threads";

const limits = { readMsMax: 20_000, memoryMbMax: 256 };
export const documentCharactersMax = 100_000;

/** The text of a PDF, in a thread of its own: a hostile one takes its time and memory, and no more. Null: it cannot be read. */
export async function readPdf(bytes: Buffer, { readMsMax, memoryMbMax } = limits): Promise<string | null> {
  const worker = new Worker(new URL("./read-pdf-worker.ts", import.meta.url), {
    workerData: { bytes },
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
  });
  const { promise, resolve } = Promise.withResolvers<readonly string[] | null>();
  const clock = setTimeout(() => resolve(null), readMsMax);
  worker.once("message", resolve);
  worker.once("error", () => resolve(null));
  worker.once("exit", () => resolve(null));
  try {
    const pages = await promise;
    if (pages === null) return null;
    const text = pages
      .map((page) => page.trim())
      .join("\n\n")
      .trim();
    return text.toWellFormed().replaceAll("\0", "\uFFFD").slice(0, documentCharactersMax);
  } finally {
    clearTimeout(clock);
    await worker.terminate();
  }
}
