import { findPage } from "@emend/site";
import type { Tree } from "@emend/tree";
import { Type } from "typebox";
import { locate } from "./paths.ts";
import { defineTool, fitItems, type ToolAnswer, type ToolContext } from "./tool.ts";

interface Wanted {
  path: string;
  start: number;
  end: number | undefined;
}

export const readFileTool = defineTool({
  name: "read_file",
  description: "Files, or pages by route, numbered by line. `guides/auth:20-60`: a part; `a.md@base`: before.",
  input: Type.Object(
    { paths: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 20 }) },
    { additionalProperties: false },
  ),
  older(input) {
    const { path, startLine, endLine, ...others } = input;
    if (typeof path !== "string") return input;
    const isPart = startLine !== undefined || endLine !== undefined;
    return { paths: [isPart ? `${path}:${startLine ?? 1}-${endLine ?? ""}` : path], ...others };
  },
  async run(context, { paths }, signal) {
    const answers: ToolAnswer[] = [];
    for (const words of paths) answers.push(await readOne(context, words, signal));
    if (paths.length > 1) {
      const shares = sharesOf(answers.map(bytesOf), context.outputBytesMax);
      for (const [index, words] of paths.entries()) {
        const outputBytesMax = shares[index] ?? 0;
        const isTooLong = bytesOf(answers[index]) > outputBytesMax;
        if (isTooLong) answers[index] = await readOne({ ...context, outputBytesMax }, words, signal);
      }
    }
    const [only] = answers;
    if (answers.length === 1 && only) return only;
    if (answers.every((answer) => answer.kind === "refused")) {
      return { kind: "refused", reason: answers.map((answer) => answer.reason).join("; ") };
    }
    const texts = answers.map((answer, index) =>
      answer.kind === "answer" ? `== ${answer.text}` : `== ${paths[index]}: ${answer.reason}`,
    );
    return { kind: "answer", text: texts.join("\n") };
  },
});

function bytesOf(answer: ToolAnswer | undefined): number {
  return Buffer.byteLength(answer?.kind === "answer" ? answer.text : (answer?.reason ?? "")) + 4;
}

/** What small files leave is the large ones'. */
function sharesOf(sizes: readonly number[], bytesMax: number): readonly number[] {
  const shares = sizes.map(() => 0);
  let left = bytesMax;
  const order = [...sizes.keys()].sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
  for (const [done, index] of order.entries()) {
    shares[index] = Math.min(sizes[index] ?? 0, Math.floor(left / (order.length - done)));
    left -= shares[index] ?? 0;
  }
  return shares;
}

async function readOne(context: ToolContext, words: string, signal: AbortSignal): Promise<ToolAnswer> {
  const found = await findFile(context, words, signal);
  if (found.kind === "refused") return found;
  const { shownAs, bytes, wanted } = found;
  const lines = bytes.toString().split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return { kind: "answer", text: `${shownAs} is empty` };
  if (wanted.start > lines.length) return { kind: "refused", reason: `${shownAs} has ${lines.length} lines` };
  const part = lines.slice(wanted.start - 1, wanted.end);
  const items = part.map((line, index) => `${wanted.start + index}\t${line}`);
  const { text, shown } = fitItems(items, context.outputBytesMax - shownAs.length - 40, (count) => {
    const next = wanted.start + count;
    return count < items.length ? `… ${lines.length - next + 1} more lines; go on with ${shownAs}:${next}` : "";
  });
  const range = shown < lines.length ? `lines ${wanted.start}-${wanted.start + shown - 1} of ` : "";
  return {
    kind: "answer",
    text: `${shownAs} (${range}${lines.length}${range === "" ? " lines" : ""})\n${text}`,
  };
}

type Found = { kind: "found"; shownAs: string; bytes: Buffer; wanted: Wanted } | { kind: "refused"; reason: string };

/** Finds a file by its path, by a page's route, or without its extension; each with an optional line range. */
async function findFile(context: ToolContext, given: string, signal: AbortSignal): Promise<Found> {
  const words = given.replace(/@base(?=$|:\d)/, "");
  const before = words === given ? null : ((await context.pull(signal))?.base ?? context.base);
  const [, name = "", start, , end] = /^(.+?):(\d{1,7})(-(\d{1,7})?)?$/.exec(words) ?? [];
  const whole: Wanted = { path: words, start: 1, end: undefined };
  const part: Wanted = { path: name, start: Math.max(1, Number(start)), end: end ? Number(end) : undefined };
  const isOneLine = start !== undefined && !words.endsWith("-") && end === undefined;
  let reason = "";
  for (const wanted of name === "" ? [whole] : [whole, isOneLine ? { ...part, end: undefined } : part]) {
    const { tree, path, prefix } = await locate(
      before ? { ...context, overlay: before } : context,
      wanted.path,
      signal,
    );
    const file = await readText(tree, path);
    const mark = before === null ? "" : "@base";
    if (file.kind === "text") return { kind: "found", shownAs: `${prefix}${path}${mark}`, bytes: file.bytes, wanted };
    reason = file.reason;
    if (prefix !== "" || (await tree.list()).some((entry) => entry.path === path)) continue;
    const page = findPage(await context.site.head(signal), wanted.path);
    if (page.kind === "none" && page.nearest.length > 0) {
      reason += `; the nearest pages are ${page.nearest.map((one) => one.path).join(", ")}`;
    }
    if (page.kind === "ambiguous") reason += `; it may be ${page.pages.map((one) => one.path).join(", ")}`;
    if (page.kind !== "found") continue;
    const found = await readText(tree, page.page.path);
    if (found.kind === "text") return { kind: "found", shownAs: page.page.path + mark, bytes: found.bytes, wanted };
  }
  return { kind: "refused", reason };
}

const readBytesMax = 4_000_000;

type FileText = { kind: "text"; bytes: Buffer } | { kind: "refused"; reason: string };

/** Reads a file that a model can work on: it exists, is not binary, and is not too large. */
export async function readText(tree: Tree, path: string): Promise<FileText> {
  const bytes = await tree.read(path);
  if (bytes === null) {
    return { kind: "refused", reason: `there is no file ${JSON.stringify(path)}; list_files shows what there is` };
  }
  if (bytes.byteLength > readBytesMax) {
    return {
      kind: "refused",
      reason: `${path} has ${bytes.byteLength} bytes, more than the ${readBytesMax} that can be read; use search`,
    };
  }
  if (bytes.subarray(0, 8000).includes(0)) return { kind: "refused", reason: `${path} is a binary file` };
  return { kind: "text", bytes };
}
