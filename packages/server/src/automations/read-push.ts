import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { matchesGlob } from "@emend/site";
import { checkObjectIds, ensureMirror, type Git, objectFormatOf, type Remote, unreachable } from "@emend/tree";
import type { Trigger } from "./automation.ts";

/** What lies between two commits. */
export interface Push {
  /** Oldest first, each with its author, date and message. */
  commits: readonly string[];
  files: readonly string[];
  /** Where it was asked for. */
  diff: string;
}

const commitsMax = 50;
const fetchMsMax = 5 * 60_000;
const readMsMax = 60_000;
const packBytesMax = 512 * 1024 * 1024;
const logBytesMax = 1024 * 1024;
const pathBytesMax = 4 * 1024 * 1024;
const diffBytesMax = 8 * 1024 * 1024;

/**
 * Reads what is between two commits from the repository, in a temporary folder: no locks, nothing to clean up. Without
 * blobs if the forge supports that.
 */
export async function readPush(
  git: Git,
  input: { remote: Remote; from: string | null; to: string; withDiff?: boolean },
  signal: AbortSignal,
): Promise<Push> {
  const { remote, from, to, withDiff = false } = input;
  checkObjectIds(to, ...(from === null ? [] : [from]));
  const dir = await mkdtemp(join(tmpdir(), "emend-push-"));
  const gitDir = join(dir, "push.git");
  try {
    await ensureMirror(git, gitDir, objectFormatOf(to), signal);
    if (from !== null && (await fetch([from, to])).code === 0) return await between(from);
    // Nothing to compare with, or the previous commit was rewritten: only the last commit counts.
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
        args: [
          "fetch",
          `--depth=${commitsMax + 1}`,
          ...(withDiff ? [] : ["--filter=blob:none"]),
          ...flags,
          "--",
          remote.url,
          ...refspecs,
        ],
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
    // What is past the bound is cut off: a reader is told so.
    const diff =
      withDiff && base !== null
        ? await read(["diff", "--no-color", "--no-ext-diff", "--no-textconv", base, to, "--"], diffBytesMax).catch(
            () => null,
          )
        : null;
    return {
      commits: split(log.stdout).map(describe),
      files: split(files.stdout),
      diff: diff?.code === 0 ? diff.stdout.toString("utf8") : "",
    };
  }
}

function split(output: Buffer): string[] {
  return output
    .toString("utf8")
    .split("\0")
    .filter((part) => part !== "");
}

/** The message is indented below its heading, so that commits stay separate whatever their messages contain. */
function describe(entry: string): string {
  const [heading = "", ...lines] = entry.trimEnd().split("\n");
  return [heading, ...lines.map((line) => `    ${line}`.trimEnd())].join("\n");
}

/** A repository's branches and tags by full name, with their commits. */
interface RemoteRefs {
  ids: ReadonlyMap<string, string>;
  defaultBranch: string | null;
}

/** A push. Without `from` there is nothing to compare with. */
export interface RefEvent {
  ref: string;
  tag: string | null;
  from: string | null;
  to: string;
}

const heads = "refs/heads/";
const tags = "refs/tags/";

/** The refs that a push trigger watches; tags are resolved to their commits. */
export function watchedRefs(
  trigger: Extract<Trigger, { kind: "push" }>,
  refs: RemoteRefs,
  baseRef: string | null,
): ReadonlyMap<string, string> {
  const isDefault = trigger.branches.length === 0 && trigger.tags.length === 0;
  const branches = isDefault ? [baseRef ?? refs.defaultBranch ?? ""] : trigger.branches;
  const matches = (patterns: readonly string[], name: string) => patterns.some((each) => matchesGlob(each, name));
  const watched = new Map<string, string>();
  for (const [ref, id] of refs.ids) {
    const isBranch = ref.startsWith(heads) && matches(branches, ref.slice(heads.length));
    const isTag = ref.startsWith(tags) && !ref.endsWith("^{}") && matches(trigger.tags, ref.slice(tags.length));
    if (isBranch || isTag) watched.set(ref, refs.ids.get(`${ref}^{}`) ?? id);
  }
  return watched;
}

/** Pushes since the last poll. Deleted refs do not count. */
export function pushesSince(
  known: ReadonlyMap<string, string>,
  watched: ReadonlyMap<string, string>,
  head: string | null,
): readonly RefEvent[] {
  const events: RefEvent[] = [];
  for (const [ref, to] of watched) {
    const before = known.get(ref);
    if (before === to) continue;
    const tag = ref.startsWith(tags) ? ref.slice(tags.length) : null;
    // A new branch is compared with the default branch, a new tag with the previous tag.
    const from = before ?? (tag === null ? head : tagBefore(known, ref));
    events.push({ ref, tag, from: from === to ? null : from, to });
  }
  return events;
}

/** By version number: v1.9 comes before v1.10. */
function tagBefore(known: ReadonlyMap<string, string>, ref: string): string | null {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const earlier = [...known].filter(([name]) => name.startsWith(tags) && compare(name, ref) < 0);
  return earlier.sort(([left], [right]) => compare(left, right)).at(-1)?.[1] ?? null;
}

/** The files that match. One is enough for the trigger. */
export function passingFiles(
  trigger: Pick<Extract<Trigger, { kind: "push" }>, "include" | "exclude">,
  files: readonly string[],
): readonly string[] {
  const { include, exclude } = trigger;
  return files.filter(
    (file) =>
      (include.length === 0 || include.some((pattern) => matchesGlob(pattern, file))) &&
      !exclude.some((pattern) => matchesGlob(pattern, file)),
  );
}
