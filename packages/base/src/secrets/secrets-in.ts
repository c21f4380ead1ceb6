import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { compileCacheEnv, threadLimits, watchTime } from "@emend/site";
import { type FoundSecret, UnsearchableText } from "./scan-secrets.ts";
import type { SecretAnswer, SecretQuestion } from "./secret-worker.ts";

export { type FoundSecret, UnsearchableText };

interface Thread {
  worker: Worker;
  /** Loading takes seconds on a slow machine, so it does not count against the text's time limit. */
  isLoaded: Promise<unknown>;
}

/** A text of 256,000 characters takes a tenth of a second; a hostile one a few seconds. */
const searchMsMax = 10_000;

// One thread for the process: regular expressions over untrusted texts never block the event loop and never use more
// than one core. It does not keep the process alive and gets no environment variables of it.
let thread: Thread | null = null;
let last: Promise<unknown> = Promise.resolve();

/**
 * Finds text that looks like a credential, Emend's own keys, and known secrets, in order. Throws `UnsearchableText` if
 * there are too many, or if the scan takes too long.
 */
export function secretsIn(
  text: string,
  known: readonly string[] = [],
  { msMax = searchMsMax } = {},
): Promise<readonly FoundSecret[]> {
  // Serialized: responses have no ids, and the time limit starts with the scan.
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
    // Not reused: it may still be working.
    thread = null;
    void current.terminate();
    reject(error);
  };
  const stopWatch = watchTime(current, msMax, () => giveUp(new UnsearchableText("the search took too long")));
  current.ref();
  const fall = () => giveUp(new UnsearchableText("the search took too much memory"));
  current.once("message", resolve).once("error", fall);
  current.postMessage(question);
  try {
    const answer = await promise;
    if ("unsearchable" in answer) throw new UnsearchableText(answer.unsearchable);
    return answer.found;
  } finally {
    stopWatch();
    current.off("message", resolve).off("error", fall).unref();
  }
}

function startThread(): Thread {
  const worker = new Worker(new URL("./secret-worker.ts", import.meta.url), {
    env: compileCacheEnv(),
    name: "emend-secrets",
    resourceLimits: { ...threadLimits, maxOldGenerationSizeMb: 128 },
  });
  const started = { worker, isLoaded: once(worker, "message") };
  // An idle thread that ends is not an error of the process. The next scan starts another.
  worker
    .on("error", () => undefined)
    .on("exit", () => {
      if (thread === started) thread = null;
    });
  return started;
}

/** Replaces each credential by its kind. */
export async function redactSecrets(text: string, known: readonly string[] = []): Promise<string> {
  let redacted = "";
  let at = 0;
  for (const { start, end, kind } of await secretsIn(text, known)) {
    if (end <= at) continue;
    // One that overlaps the last goes with it, to its own end.
    if (start >= at) redacted += `${text.slice(at, start)}[redacted: ${kind}]`;
    at = end;
  }
  return redacted + text.slice(at);
}
