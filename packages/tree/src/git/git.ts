import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createFetch, type Fetch, pinnedLookup } from "@emend/base/network.ts";
import { TreeFault, type TreeFaultCode } from "../faults.ts";
import type { Remote } from "../mirror/mirror.ts";
import { askRefs, askRetryAfter, type RemoteRefs } from "./ask-refs.ts";
import { type BoundProcess, startBound } from "./bound-process.ts";
import { checkRemote, type GitNetwork, type GitProtocol, gitEnvironment } from "./git-environment.ts";

export interface GitCommand {
  gitDir: string;
  args: readonly string[];
  timeMsMax: number;
  /** Ends the command after this long without a byte of output, progress included. */
  silenceMsMax?: number;
  /** The limit for standard output. At the limit the process is stopped and the result is `cut`. */
  outputBytesMax: number;
  /** Receives standard output as a stream. Return false to stop (also `cut`). */
  onOutput?(chunk: Buffer): boolean;
  /** A new file for standard output. */
  outputFile?: string;
  input?: Iterable<Buffer | string>;
  /** The remote repository. Its credential is passed in the environment. */
  remote?: Remote;
  config?: Readonly<Record<string, string>>;
  fileBytesMax?: number;
  memoryBytesMax?: number;
  /** Locks that must be held while the command runs, even if this process dies. */
  locks?: readonly number[];
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  /** Git's message, safe to show. */
  words: string;
  /** Standard error, truncated; never show it. */
  stderr: string;
  cut: boolean;
}

export interface Git {
  readonly allowedProtocols: readonly GitProtocol[];
  /** Returns any exit code. Throws on timeouts and start failures. */
  run(command: GitCommand, signal: AbortSignal): Promise<GitResult>;
  /** For commands that fail only if this machine has a problem: TreeFault("internal") unless it exits with 0. */
  must(command: GitCommand, signal: AbortSignal): Promise<Buffer>;
  /** Reads these refs without starting a process. Null if only git can tell. */
  askRefs(remote: Remote, names: readonly string[], signal: AbortSignal): Promise<RemoteRefs | null>;
  /** For how long the remote asks to send nothing more, after it refused with 429. */
  askRetryAfter(remote: Remote, signal: AbortSignal): Promise<number>;
  /** A long-running process. */
  start(command: Pick<GitCommand, "gitDir" | "args">): BoundProcess;
}

const stderrBytesMax = 64 * 1024;
/** A tree of a few kilobytes can name more paths than fit into memory, and git collects them all before it writes. */
export const gitMemoryBytesMax = 2 * 2 ** 30;

export function createGit(options: {
  /** Besides https. */
  allowedProtocols?: readonly GitProtocol[];
  network?: GitNetwork;
  path?: string;
}): Git {
  const { network = {}, allowedProtocols = [] } = options;
  const path = options.path ?? process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin";

  function start(command: Omit<GitCommand, "timeMsMax" | "outputBytesMax" | "onOutput" | "input">) {
    const { remote, fileBytesMax, memoryBytesMax = gitMemoryBytesMax, outputFile, locks } = command;
    if (remote) checkRemote(remote, allowedProtocols);
    return startBound({
      program: "git",
      args: [`--git-dir=${command.gitDir}`, ...command.args],
      env: gitEnvironment({ path, network, allowedProtocols, remote, config: command.config }),
      fileBytesMax,
      memoryBytesMax,
      outputFile,
      locks,
    });
  }

  async function run(command: GitCommand, signal: AbortSignal): Promise<GitResult> {
    signal.throwIfAborted();
    const git = start(command);
    const name = `git ${command.args[0]}`;
    let timedOutMs: number | null = null;
    const stopAfter = (ms: number) =>
      setTimeout(() => {
        timedOutMs = ms;
        git.stop();
      }, ms);
    const timer = stopAfter(command.timeMsMax);
    const silence = command.silenceMsMax === undefined ? null : stopAfter(command.silenceMsMax);
    const heard = () => void silence?.refresh();
    signal.addEventListener("abort", git.stop, { once: true });
    try {
      if (silence) for (const stream of [git.stdout, git.stderr]) stream.on("data", heard);
      const output = collectOutput(git, command);
      const stderr = collectTail(git.stderr);
      const fed = feed(git, command.input);
      const { code, signal: killedBy } = await git.ended;
      await fed;
      signal.throwIfAborted();
      if (timedOutMs !== null) {
        const what = timedOutMs === command.timeMsMax ? "" : " without an answer";
        const publicMessage = `${name} was stopped after ${Math.round(timedOutMs / 1000)} s${what}.`;
        throw new TreeFault("repository_unavailable", { publicMessage, retryable: true });
      }
      const words = gitWords(stderr(), hiddenFromWords(command));
      if (killedBy && !output.cut) {
        const what = `${name} was ended by ${killedBy}.`;
        throw gitError("repository_unavailable", { what, words, retryable: true });
      }
      if (code === 127) throw new TreeFault("internal", { publicMessage: "git is not installed, or not in the PATH." });
      const stdout = Buffer.concat(output.chunks);
      return { code: output.cut ? 0 : (code ?? 0), stdout, words, stderr: stderr(), cut: output.cut };
    } finally {
      clearTimeout(timer);
      if (silence) clearTimeout(silence);
      signal.removeEventListener("abort", git.stop);
    }
  }

  // Created on demand. Idle connections do not keep the process alive, so there is nothing to close.
  const clients: { free?: Fetch; pinned?: Fetch } = {};
  const pins = new Map<string, readonly string[]>();
  function fetchFor({ url, addresses }: Remote): Fetch {
    if (!addresses) {
      clients.free ??= createFetch(network).fetch;
      return clients.free;
    }
    // All of the host's addresses passed the SSRF guard.
    pins.set(new URL(url).hostname, addresses);
    clients.pinned ??= createFetch(network, { lookup: pinnedLookup(pins) }).fetch;
    return clients.pinned;
  }

  return {
    allowedProtocols,
    run,
    start,
    async askRefs(remote, names, signal) {
      checkRemote(remote, allowedProtocols);
      return remote.url.startsWith("http") ? askRefs(fetchFor(remote), remote, names, signal) : null;
    },
    askRetryAfter: (remote, signal) => askRetryAfter(fetchFor(remote), remote, signal),
    async must(command, signal) {
      const result = await run(command, signal);
      if (result.cut) {
        const publicMessage = `git ${command.args[0]} gave more than ${command.outputBytesMax} bytes.`;
        throw new TreeFault("repository_unavailable", { publicMessage });
      }
      if (result.code === 0) return result.stdout;
      // Git's words are about this machine: for its operator, in the log.
      const what = `git ${command.args[0]} failed`;
      const publicMessage = `${what} on the server. The server's log has details.`;
      throw new TreeFault("internal", { publicMessage, message: `${what}: ${result.words}`, retryable: true });
    },
  };
}

/** Credentials, with and without their scheme, and local folders. */
function hiddenFromWords({ gitDir, remote }: GitCommand): string[] {
  const authorization = remote?.authorization ?? "";
  const folder = remote?.url.startsWith("file:") ? [fileURLToPath(remote.url)] : [];
  return [gitDir, authorization, authorization.slice(authorization.indexOf(" ") + 1), ...folder];
}

function collectOutput(git: BoundProcess, command: GitCommand): { chunks: Buffer[]; cut: boolean } {
  const output = { chunks: [] as Buffer[], cut: false };
  let bytes = 0;
  git.stdout.on("data", (chunk: Buffer) => {
    if (output.cut) return;
    const room = command.outputBytesMax - bytes;
    bytes += chunk.length;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    const wanted = command.onOutput ? command.onOutput(kept) : output.chunks.push(kept) > 0;
    if (wanted && chunk.length <= room) return;
    output.cut = true;
    git.stop();
  });
  return output;
}

/** Keeps the end: git's error comes last. */
function collectTail(stream: Readable): () => string {
  let tail = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]);
    if (tail.length > stderrBytesMax) tail = tail.subarray(tail.length - stderrBytesMax);
  });
  return () => tail.toString("utf8");
}

async function feed(git: BoundProcess, input: GitCommand["input"]): Promise<void> {
  if (!input) {
    git.stdin.end();
    return;
  }
  // A command that exits before it has read all input reports that with its exit code.
  await pipeline(Readable.from(input, { objectMode: false }), git.stdin).catch(() => {});
}

const wordsLengthMax = 600;
/** Git's own progress: "Writing objects:  50% (1/2)". */
const progress =
  /^(remote: )?((Enumerating|Counting|Compressing|Writing|Resolving|Unpacking|Checking)\b[\w ]*: +\d|Total \d|Delta compression using )/;

/** Git's message, safe to show: no credentials, no local paths, no terminal escapes, limited length. */
export function gitWords(stderr: string, hidden: readonly string[]): string {
  let words = stderr;
  for (const secret of hidden) if (secret.length > 3) words = words.replaceAll(secret, "…");
  words = words
    .replaceAll("\r", "\n")
    .replace(/(:\/\/)[^/@\s']*@/g, "$1")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes come from the far end
    .replace(/\u001b\[[0-9;]*[A-Za-z]|[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, " ")
    .split("\n")
    .map((line) => line.replace(/^(fatal|error): /, "").trim())
    .filter((line) => line !== "" && !progress.test(line))
    .join("; ");
  return words.length <= wordsLengthMax ? words : `${words.slice(0, wordsLengthMax)}…`;
}

/** The HTTP status in git's message. Git offers nothing better: every such failure exits with 128. */
export function httpStatusOf(stderr: string): number | null {
  const status = /The requested URL returned error: (\d{3})/.exec(stderr)?.[1];
  if (status) return Number(status);
  if (/Authentication failed for |could not read Username for /.test(stderr)) return 401;
  if (/repository '.*' not found|does not appear to be a git repository/.test(stderr)) return 404;
  return null;
}

/** A refusal that passes, by the server's own words; many send it with 403. */
export function saysLater(stderr: string): boolean {
  return /temporarily|try again later|cannot lock ref|failed to update ref/i.test(stderr);
}

/** Certificate errors are permanent. */
export function isUntrusted(stderr: string): boolean {
  return /SSL certificate problem|certificate verification failed|no alternative certificate subject name/i.test(
    stderr,
  );
}

/** For a command that should have succeeded. */
export function gitError(
  code: TreeFaultCode,
  options: { what: string; words: string; retryable?: boolean; cause?: unknown },
): TreeFault {
  const { what, words, ...rest } = options;
  return new TreeFault(code, { publicMessage: words ? `${what} (git: ${words})` : what, ...rest });
}

/**
 * 2.38 brought `safe.bareRepository`; configuration by environment (2.31) and `GIT_CONFIG_GLOBAL` (2.32) are older.
 * `GIT_NO_LAZY_FETCH` (2.45, and 2.39.4 in its line) is a second fence only: no mirror has a promisor to fetch from.
 */
const versionLeast = [2, 38] as const;

export async function assertGitVersion(git: Git, signal: AbortSignal): Promise<string> {
  const output = await git.must(
    { gitDir: "/dev/null", args: ["version"], timeMsMax: 10_000, outputBytesMax: 1_000 },
    signal,
  );
  const version = /git version (\S+)/.exec(output.toString())?.[1] ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const [majorLeast, minorLeast] = versionLeast;
  if (major > majorLeast || (major === majorLeast && minor >= minorLeast)) return version;
  throw new TreeFault("internal", {
    publicMessage: `git ${version} is too old: install git ${majorLeast}.${minorLeast} or newer.`,
  });
}
