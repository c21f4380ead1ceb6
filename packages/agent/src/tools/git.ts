import { parsePatch, splitPatch } from "@emend/contract";
import { createOverlay, type Overlay, type Tree } from "@emend/tree";
import { Type } from "typebox";
import { pathFilter } from "./paths.ts";
import { defineTool, fitItems, type ToolAnswer, type ToolContext } from "./tool.ts";

/** Named like git because models know it. It runs no git and accepts only these commands. */
const commands = ["diff", "restore", "log", "show"] as const;

export const gitTool = defineTool({
  name: "git",
  description: "diff: all edits; restore: undoes a file's; log: its last ten commits; show: `commit:path`.",
  input: Type.Object(
    {
      command: Type.Unsafe<(typeof commands)[number]>({ type: "string", enum: [...commands] }),
      path: Type.Optional(Type.String({ minLength: 1 })),
    },
    { additionalProperties: false },
  ),
  writes: ({ command }) => command === "restore",
  async run(context, { command, path }, signal) {
    if (command === "diff") return diff(context, path ?? "", signal);
    if (path === undefined) return { kind: "refused", reason: `${command} needs a path` };
    if (command === "show") return show(context, path, signal);
    return command === "log" ? log(context, path, signal) : restore(context, path, signal);
  },
});

/** The edits as a reviewer sees them: in a follow-up those of the whole pull request. */
async function reviewed(
  { overlay, base, pull }: ToolContext,
  signal: AbortSignal,
): Promise<{ base: Tree; edits: Overlay }> {
  const open = await pull(signal);
  if (!open) return { base, edits: overlay };
  return { base: open.base, edits: await createOverlay(open.base, [...open.entries, ...overlay.entries()]) };
}

async function diff(context: ToolContext, path: string, signal: AbortSignal): Promise<ToolAnswer> {
  const accepts = pathFilter([path]);
  const { edits } = await reviewed(context, signal);
  const files = readPatch((await edits.diff(signal)).toString()).filter(
    (file) => path === "" || file.paths.some(accepts),
  );
  if (files.length === 0) return { kind: "answer", text: path === "" ? "nothing is edited" : `${path} is not edited` };
  return { kind: "answer", text: fitFiles(files, context.outputBytesMax) };
}

function fitFiles(files: readonly { patch: string }[], bytesMax: number): string {
  const patches = files.map((file) => file.patch);
  return fitItems(patches, bytesMax, (shown) =>
    shown < files.length ? `… ${files.length - shown} more files; ask by path` : "",
  ).text;
}

async function restore(context: ToolContext, path: string, signal: AbortSignal): Promise<ToolAnswer> {
  const { overlay, refusePath } = context;
  const { base, edits } = await reviewed(context, signal);
  const edited = edits.entries().map((entry) => entry.path);
  if (!edited.includes(path)) {
    const list = edited.length === 0 ? "no file is" : `edited are ${edited.slice(0, 20).join(", ")}`;
    return { kind: "refused", reason: `${path} is not edited; ${list}` };
  }
  const refusal = refusePath(path);
  if (refusal !== null) return { kind: "refused", reason: refusal };
  const before = await base.read(path);
  if (before === null) await overlay.delete(path);
  else await overlay.set(path, before);
  return { kind: "answer", text: before === null ? `took ${path} away again` : `${path} is as it was before` };
}

async function log({ history }: ToolContext, path: string, signal: AbortSignal): Promise<ToolAnswer> {
  const commits = await history(path, signal);
  if (commits === null) return { kind: "refused", reason: "the history of this repository is not available" };
  if (commits.length === 0) return { kind: "answer", text: `none of the newest commits touched ${path}` };
  const lines = commits.map(({ id, date, author, message }) => `${id.slice(0, 9)} ${date} ${author}: ${message}`);
  return { kind: "answer", text: lines.join("\n") };
}

/** A commit, or what it did to one path. `abc1234:@api` is in a context repository. */
async function show(
  { commit: read, outputBytesMax }: ToolContext,
  words: string,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const [, id, path = ""] = /^([0-9a-f]{6,64})(?::(.*))?$/i.exec(words) ?? [];
  if (id === undefined) return { kind: "refused", reason: "show needs a commit, or commit:path; log lists a file's" };
  const text = await read(id, path, signal);
  if (text === null) return { kind: "refused", reason: `the newest commits of the branch do not have ${id}` };
  const [about = "", ...patches] = text.split(/^(?=diff --git )/m);
  if (patches.length === 0) return { kind: "answer", text: about };
  const files = readPatch(patches.join(""));
  return {
    kind: "answer",
    text: `${about.trim()}\n\n${fitFiles(files, outputBytesMax - Buffer.byteLength(about) - 20)}`,
  };
}

/** A patch split by file, without blob ids. */
function readPatch(patch: string): readonly { paths: readonly string[]; patch: string }[] {
  const files = parsePatch(patch);
  return splitPatch(patch).map((text, index) => {
    const { path = "", pathBefore = null } = files[index] ?? {};
    return { paths: pathBefore === null ? [path] : [pathBefore, path], patch: shortened(text) };
  });
}

function shortened(file: string): string {
  const [head = "", ...hunks] = file.split(/^(?=@@ )/m);
  const lines = head.split("\n").filter((line) => line !== "" && !/^(?:index |similarity |diff --git .*)/.test(line));
  // A file without hunks is identified by its first line.
  const isNamed = lines.some((line) => /^(?:---|rename)/.test(line));
  return [...(isNamed ? [] : [head.split("\n", 1)[0] ?? ""]), ...lines, hunks.join("").trimEnd()]
    .filter((line) => line !== "")
    .join("\n");
}
