import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureMirror } from "../tree/ensure-mirror.ts";
import type { Git } from "../tree/git.ts";
import type { Remote } from "../tree/mirror.ts";
import { checkObjectIds, objectFormatOf } from "../tree/object-id.ts";
import { unreachable } from "../tree/resolve-base.ts";

/** What a push brought. */
export interface Push {
  /** Oldest first, each with its author, date and message. */
  commits: readonly string[];
  files: readonly string[];
}

const commitsMax = 50;
const fetchMsMax = 5 * 60_000;
const readMsMax = 60_000;
const packBytesMax = 512 * 1024 * 1024;
const logBytesMax = 1024 * 1024;
const pathBytesMax = 4 * 1024 * 1024;

/**
 * Reads from the repository itself what lies between two commits, in a folder that is gone afterwards: no lock to
 * wait for, nothing to tidy up. Where the forge can, without the contents of files.
 */
export async function readPush(
  git: Git,
  input: { remote: Remote; from: string | null; to: string },
  signal: AbortSignal,
): Promise<Push> {
  const { remote, from, to } = input;
  checkObjectIds(to, ...(from === null ? [] : [from]));
  const dir = await mkdtemp(join(tmpdir(), "emend-push-"));
  const gitDir = join(dir, "push.git");
  try {
    await ensureMirror(git, gitDir, objectFormatOf(to), signal);
    if (from !== null && (await fetch([from, to])).code === 0) return await between(from);
    // Nothing to compare with, or history was rewritten and the commit before is gone: the last commit stands alone.
    const alone = await fetch([to]);
    if (alone.code !== 0) throw unreachable(alone);
    return await between(null);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }

  function fetch(ids: readonly string[]) {
    const refspecs = ids.map((id) => `+${id}:refs/emend/${id}`);
    const flags = ["--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet"];
    return git.run(
      {
        gitDir,
        args: ["fetch", `--depth=${commitsMax + 1}`, "--filter=blob:none", ...flags, "--", remote.url, ...refspecs],
        remote,
        timeMsMax: fetchMsMax,
        outputBytesMax: 64 * 1024,
        fileBytesMax: packBytesMax,
      },
      signal,
    );
  }

  async function between(base: string | null): Promise<Push> {
    const read = (args: readonly string[], outputBytesMax: number) =>
      git.run({ gitDir, args, timeMsMax: readMsMax, outputBytesMax }, signal);
    const range = base === null ? ["-n", "1", to] : ["-n", String(commitsMax), `${base}..${to}`];
    const log = await read(["log", "-z", "--reverse", "--format=%h %an %cs%n%B", ...range, "--"], logBytesMax);
    const compared = base === null ? ["--root", "--no-commit-id", "-m", "--first-parent", to] : [base, to];
    const files = await read(["diff-tree", "-r", "-z", "--no-renames", "--name-only", ...compared, "--"], pathBytesMax);
    if (log.code !== 0) throw unreachable(log);
    if (files.code !== 0) throw unreachable(files);
    return { commits: split(log.stdout).map(describe), files: split(files.stdout) };
  }
}

function split(output: Buffer): string[] {
  return output
    .toString("utf8")
    .split("\0")
    .filter((part) => part !== "");
}

/** The message indented below its heading, so that commits stay apart whatever their messages hold. */
function describe(entry: string): string {
  const [heading = "", ...lines] = entry.trimEnd().split("\n");
  return [heading, ...lines.map((line) => `    ${line}`.trimEnd())].join("\n");
}
