import { isBranchName } from "@emend/base/branch-name.ts";
import { type Fetch, readBody } from "@emend/base/network.ts";
import type { Remote } from "../mirror/mirror.ts";
import { isObjectId } from "../tree.ts";

/** A repository's refs. */
export interface RemoteRefs {
  ids: ReadonlyMap<string, string>;
  defaultBranch: string | null;
}

const answerBytesMax = 1024 * 1024;
const askMsMax = 10_000;

/**
 * Asks a repository for some refs in one request of git's protocol 2, without starting git: every job starts with this.
 * Null if the response is not clear: then git is used, which reports errors better.
 */
export async function askRefs(
  fetch: Fetch,
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<RemoteRefs | null> {
  const wanted = names.map((name) => packet(`ref-prefix ${name}\n`));
  const body = [packet("command=ls-refs\n"), packet("agent=emend\n"), "0001", packet("symrefs\n"), ...wanted, "0000"];
  try {
    const response = await fetch(`${remote.url}/git-upload-pack`, {
      method: "POST",
      headers: {
        "content-type": "application/x-git-upload-pack-request",
        accept: "application/x-git-upload-pack-result",
        "git-protocol": "version=2",
        "user-agent": "git/emend",
        ...(remote.authorization && { authorization: remote.authorization }),
      },
      body: body.join(""),
      // A credential must not be sent to a redirect's target.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(askMsMax)]),
    });
    const answer = await readBody(response.body, answerBytesMax);
    const isAnswer = response.headers.get("content-type") === "application/x-git-upload-pack-result";
    return response.status === 200 && isAnswer ? parseRefs(answer, names) : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** If a limit names no time. */
const retryUsualMs = 60_000;
const retrySoonMs = 1_000;
const retryMsMax = 3_600_000;

/** Git shows the status of a refused request, but not its headers. So this asks once more, with a request of its own. */
export async function askRetryAfter(fetch: Fetch, remote: Remote, signal: AbortSignal): Promise<number> {
  if (!remote.url.startsWith("http")) return retryUsualMs;
  try {
    const response = await fetch(`${remote.url}/info/refs?service=git-receive-pack`, {
      method: "GET",
      headers: { "user-agent": "git/emend", ...(remote.authorization && { authorization: remote.authorization }) },
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(askMsMax)]),
    });
    await readBody(response.body, answerBytesMax);
    if (response.status !== 429) return retrySoonMs;
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    return Number.isFinite(seconds) ? Math.min(Math.max(seconds * 1000, 0), retryMsMax) : retryUsualMs;
  } catch {
    signal.throwIfAborted();
    return retryUsualMs;
  }
}

function packet(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;
}

/** Lines of `<id> <name> [symref-target:<name>]`, each with a length prefix, ended by "0000". */
function parseRefs(answer: Buffer, names: readonly string[]): RemoteRefs | null {
  const ids = new Map<string, string>();
  let defaultBranch: string | null = null;
  for (let at = 0; ; ) {
    const digits = answer.toString("latin1", at, at + 4);
    if (digits === "0000") return { ids, defaultBranch };
    const length = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : 0;
    if (length <= 4 || at + length > answer.length) return null;
    const [id = "", name = "", ...attributes] = answer
      .toString("utf8", at + 4, at + length)
      .trimEnd()
      .split(" ");
    at += length;
    if (!isObjectId(id)) return null;
    // A prefix also matches longer names.
    if (names.includes(name)) ids.set(name, id);
    const target = attributes.find((text) => text.startsWith("symref-target:refs/heads/"))?.slice(25);
    if (name === "HEAD" && target !== undefined && isBranchName(target)) defaultBranch = target;
  }
}
