import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { type FoundSecret, UnsearchableText } from "./scan-secrets.ts";
import type { SecretAnswer, SecretQuestion } from "./secret-worker.ts";

export { type FoundSecret, UnsearchableText };

interface Thread {
  worker: Worker;
  /** Loading takes seconds on a slow or busy machine, and is no fault of the text that waits for it. */
  isLoaded: Promise<unknown>;
}

/** A text of 256,000 characters takes a tenth of a second, one made to be slow a few seconds. */
const searchMsMax = 10_000;

// One thread for the process, which is no state but a loaded module: expressions over strangers' texts never hold the
// event loop, and never more than one processor. It holds neither the process nor anything of its environment.
let thread: Thread | null = null;
let last: Promise<unknown> = Promise.resolve();

/**
 * What looks like a credential, is a key of Emend's own, or is one of those that are known, in the order in which it
 * stands. Throws `UnsearchableText` where there are too many, or where the search takes too long.
 */
export function secretsIn(
  text: string,
  known: readonly string[] = [],
  { msMax = searchMsMax } = {},
): Promise<readonly FoundSecret[]> {
  // One after the other: answers carry no name, and the time limit counts from when a search begins.
  const answer = last.then(() => ask({ text, known }, msMax));
  last = answer.catch(() => undefined);
  return answer;
}

async function ask(question: SecretQuestion, msMax: number): Promise<readonly FoundSecret[]> {
  thread ??= startThread();
  const { worker: current, isLoaded } = thread;
  await isLoaded;
  const { promise, resolve, reject } = Promise.withResolvers<SecretAnswer>();
  const giveUp = (error: Error) => {
    // Never asked again: nobody knows what it still does.
    thread = null;
    void current.terminate();
    reject(error);
  };
  const late = setTimeout(() => giveUp(new UnsearchableText("the search took too long")), msMax);
  current.ref();
  current.once("message", resolve).once("error", giveUp);
  current.postMessage(question);
  try {
    const answer = await promise;
    if ("unsearchable" in answer) throw new UnsearchableText(answer.unsearchable);
    return answer.found;
  } finally {
    clearTimeout(late);
    current.off("message", resolve).off("error", giveUp).unref();
  }
}

function startThread(): Thread {
  const worker = new Worker(new URL("./secret-worker.ts", import.meta.url), { env: {} });
  const started = { worker, isLoaded: once(worker, "message") };
  // One that ends of itself while nobody asks it is no fault of the process; the next search starts another.
  worker
    .on("error", () => undefined)
    .on("exit", () => {
      if (thread === started) thread = null;
    });
  return started;
}

/** The text with each credential's kind in its place. `isKept` lets one stay. */
export async function redactSecrets(
  text: string,
  options: { known?: readonly string[]; isKept?(secret: string): Promise<boolean> } = {},
): Promise<string> {
  let redacted = "";
  let at = 0;
  for (const { start, end, kind } of await secretsIn(text, options.known)) {
    if (start < at || (await options.isKept?.(text.slice(start, end)))) continue;
    redacted += `${text.slice(at, start)}[redacted: ${kind}]`;
    at = end;
  }
  return redacted + text.slice(at);
}
