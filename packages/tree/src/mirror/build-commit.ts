import { randomBytes } from "node:crypto";
import { TreeFault } from "../faults.ts";
import { checkObjectIds } from "../tree.ts";
import type { CommitInput } from "./mirror.ts";
import { type MirrorContext, runPin, withStore } from "./mirror-context.ts";
import { writeOrClear } from "./repair-mirror.ts";

/** Builds the commit in one process and pins it. The same input gives the same ids on any machine. */
export async function buildCommit(
  context: MirrorContext,
  input: CommitInput,
  signal: AbortSignal,
): Promise<{ treeId: string; commitId: string }> {
  checkObjectIds(input.base);
  return writeOrClear(context, signal, async () => {
    const build = (lockId: number) => fastImport(context, commitStream(input), lockId, signal);
    const output = await withStore(context, "shared", signal, build);
    const [commitId, tree = ""] = output.split("\n");
    const treeId = /^040000 tree ([0-9a-f]+)\t/.exec(tree)?.[1];
    if (commitId && treeId) return { treeId, commitId };
    throw new TreeFault("internal", { publicMessage: "git created a commit but did not print its id." });
  });
}

/** A commit without a ref: a later garbage collection removes it. */
export async function buildUnpinned(
  context: MirrorContext,
  { base, entries }: Pick<CommitInput, "base" | "entries">,
  signal: AbortSignal,
): Promise<string> {
  checkObjectIds(base);
  const ref = `refs/emend/look/${randomBytes(8).toString("hex")}`;
  const author = { name: "Emend", email: "emend@localhost" };
  function* stream(): Iterable<Buffer | string> {
    yield* commitStream({ jobId: "", base, entries, message: "Look", author, date: new Date(0) }, ref);
    yield `reset ${ref}\nfrom ${"0".repeat(base.length)}\n\n`;
  }
  const output = await withStore(context, "shared", signal, (lockId) => fastImport(context, stream(), lockId, signal));
  return output.split("\n")[0] ?? "";
}

function* commitStream(input: CommitInput, ref = runPin(input.jobId)): Iterable<Buffer | string> {
  const who = person(input);
  yield `commit ${ref}\nmark :1\nauthor ${who}\ncommitter ${who}\n`;
  yield* data(Buffer.from(message(input.message), "utf8"));
  yield `from ${input.base}\n`;
  // Deletions first, so that a folder can replace a file and the other way round.
  for (const entry of sorted(input)) if (entry.content === null) yield `D ${quotePath(entry.path)}\n`;
  for (const entry of sorted(input)) {
    if (entry.content === null) continue;
    yield `M ${entry.mode} inline ${quotePath(entry.path)}\n`;
    yield* data(entry.content);
  }
  yield 'get-mark :1\nls :1 ""\n';
}

function sorted(input: CommitInput) {
  return input.entries.toSorted((left, right) => (left.path < right.path ? -1 : 1));
}

/** Git reads a name up to its first angle bracket, on one line. */
function person({ author, date }: CommitInput): string {
  const clean = (text: string) =>
    text
      .toWellFormed()
      .replace(/[<>\s\0]+/g, " ")
      .trim();
  return `${clean(author.name)} <${clean(author.email)}> ${Math.floor(date.getTime() / 1000)} +0000`;
}

function message(text: string): string {
  const clean = text.toWellFormed().replaceAll("\0", "");
  return clean.endsWith("\n") ? clean : `${clean}\n`;
}

const timeMsMax = 5 * 60_000;

/** Feeds a complete stream to `git fast-import` and returns its output. Call it with the store lock held. */
export async function fastImport(
  context: MirrorContext,
  input: Iterable<Buffer | string>,
  lockId: number,
  signal: AbortSignal,
): Promise<string> {
  const output = await context.git.must(
    {
      gitDir: context.place.gitDir,
      // A repeated run replaces its commit.
      args: ["fast-import", "--quiet", "--force"],
      input: framed(input),
      timeMsMax,
      outputBytesMax: 64 * 1024,
      locks: [lockId],
    },
    signal,
  );
  return output.toString("latin1");
}

/** Without the final command, a truncated stream would look complete. */
function* framed(input: Iterable<Buffer | string>): Iterable<Buffer | string> {
  yield "feature done\n";
  yield* input;
  yield "done\n";
}

export function* data(content: Buffer): Iterable<Buffer | string> {
  yield `data ${content.length}\n`;
  // An empty chunk would end the stream.
  if (content.length > 0) yield content;
  yield "\n";
}

/** Escapes all but the simplest bytes in octal: paths are bytes and may contain quotes and line feeds. */
function quotePath(path: string): string {
  let quoted = '"';
  for (const byte of Buffer.from(path, "utf8")) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    quoted += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return `${quoted}"`;
}
