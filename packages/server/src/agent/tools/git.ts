import { parsePatch, splitPatch } from "@emend/contract";
import { Type } from "typebox";
import { pathFilter } from "./paths.ts";
import { defineTool, fitItems, type ToolAnswer, type ToolContext } from "./tool.ts";

/** Named like git because models know it. It runs no git and accepts only these commands. */
export const gitTool = defineTool({
  name: "git",
  description: "diff: your edits; restore: undoes a file's; log: its last ten commits.",
  input: Type.Object(
    {
      command: Type.Unsafe<"diff" | "restore" | "log">({ type: "string", enum: ["diff", "restore", "log"] }),
      path: Type.Optional(Type.String({ minLength: 1 })),
    },
    { additionalProperties: false },
  ),
  writes: ({ command }) => command === "restore",
  async run(context, { command, path }, signal) {
    if (command === "diff") return diff(context, path ?? "", signal);
    if (path === undefined) return { kind: "refused", reason: `${command} needs a path` };
    return command === "log" ? log(context, path, signal) : restore(context, path);
  },
});

async function diff({ overlay, outputBytesMax }: ToolContext, path: string, signal: AbortSignal): Promise<ToolAnswer> {
  const accepts = pathFilter([path]);
  const files = readPatch((await overlay.diff(signal)).toString()).filter(
    (file) => path === "" || file.paths.some(accepts),
  );
  if (files.length === 0) return { kind: "answer", text: path === "" ? "nothing is edited" : `${path} is not edited` };
  const patches = files.map((file) => file.patch);
  const { text } = fitItems(patches, outputBytesMax, (shown) => {
    const left = files.slice(shown).map((file) => file.paths.at(-1));
    return left.length === 0 ? "" : `… ${left.length} more files; ask by path`;
  });
  return { kind: "answer", text };
}

async function restore({ overlay, base }: ToolContext, path: string): Promise<ToolAnswer> {
  const edited = overlay.entries().map((entry) => entry.path);
  if (!edited.includes(path)) {
    const list = edited.length === 0 ? "no file is" : `edited are ${edited.slice(0, 20).join(", ")}`;
    return { kind: "refused", reason: `${path} is not edited; ${list}` };
  }
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

/** A patch split by file, without blob ids. */
export function readPatch(patch: string): readonly { paths: readonly string[]; patch: string }[] {
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
