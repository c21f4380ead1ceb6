import { describeRewrite } from "@emend/base/page-lines.ts";
import { addPage, findReferences, removePage } from "@emend/site";
import { Type } from "typebox";
import { countOf, isGlob, pathFilter } from "./paths.ts";
import { readText } from "./read-file.ts";
import { replaceByPattern } from "./replace-by-pattern.ts";
import { applyRefactoring } from "./report.ts";
import { defineTool, type ToolContext } from "./tool.ts";

const path = Type.String({ minLength: 1 });

export const writeFileTool = defineTool({
  name: "write_file",
  description: "`group`: lists a new page in the navigation.",
  input: Type.Object({ path, content: Type.String(), group: Type.Optional(path) }, { additionalProperties: false }),
  writes: true,
  async run(context, input, signal) {
    const { overlay, refusePath } = context;
    if (input.group !== undefined)
      return applyRefactoring(context, await addPage(await context.site.head(signal), input));
    const refusal = refusePath(input.path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    const before = await overlay.read(input.path);
    await overlay.set(input.path, Buffer.from(input.content));
    const change = before === null ? "" : `: ${describeRewrite(before.toString(), input.content)}`;
    return { kind: "answer", text: `${before === null ? "wrote" : "overwrote"} ${input.path}${change}` };
  },
});

export const deleteFileTool = defineTool({
  name: "delete_file",
  description: "`to`: replaces it in links, navigation and a redirect.",
  input: Type.Object({ path, to: Type.Optional(path) }, { additionalProperties: false }),
  writes: true,
  async run(context, input, signal) {
    const { to } = input;
    if (to !== undefined) {
      const done = await applyRefactoring(
        context,
        await removePage(await context.site.head(signal), { page: input.path, to }),
      );
      return done.kind === "answer" ? { ...done, text: `${done.text}\nlinks and the old address lead to ${to}` } : done;
    }
    const refusal = context.refusePath(input.path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    if ((await context.overlay.read(input.path)) === null)
      return { kind: "refused", reason: `there is no file ${JSON.stringify(input.path)}` };
    const left = await leftBehind(context, input.path, signal);
    await context.overlay.delete(input.path);
    return { kind: "answer", text: `deleted ${input.path}${left}` };
  },
});

/** Who still links to a page that goes away, and that its address leads nowhere. */
async function leftBehind(context: ToolContext, path: string, signal: AbortSignal): Promise<string> {
  const site = await context.site.head(signal);
  if (!site.index.nodes.has(path)) return "";
  const linking = await findReferences(site, { path, id: null }, signal);
  const pages = [...new Set(linking.map((one) => one.path))].filter((one) => one !== path);
  const shown = pages.slice(0, placesShownMax).join(", ") + (pages.length > placesShownMax ? " and more" : "");
  const links = pages.length === 0 ? "no page links to it" : `${countOf(pages.length, "file")} still name it: ${shown}`;
  return `; ${links}; its address redirects nowhere (delete_file with \`to\` mends both)`;
}

const filesMax = 2_000;
const placesShownMax = 8;
const lineCharactersMax = 300;

export interface Edit {
  oldText: string;
  newText: string;
  replaceAll?: boolean;
  /** `oldText` is a pattern, and this is how many places the model expects it to match. */
  regex?: number;
}

export const editFileTool = defineTool({
  name: "edit_file",
  description:
    "Replaces exact text that occurs once, or all with `replaceAll`; every edit or none. `path` may be a glob. `regex`: a pattern with so many matches; `$1` in newText.",
  input: Type.Object(
    {
      path: Type.String({ minLength: 1 }),
      edits: Type.Array(
        Type.Object(
          {
            oldText: Type.String({ minLength: 1 }),
            newText: Type.String(),
            replaceAll: Type.Optional(Type.Boolean()),
            regex: Type.Optional(Type.Integer({ minimum: 0 })),
          },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 100 },
      ),
    },
    { additionalProperties: false },
  ),
  older({ oldText, newText, replaceAll, ...input }) {
    if (oldText === undefined) return input;
    return { ...input, edits: [{ oldText, newText, ...(replaceAll === undefined ? {} : { replaceAll }) }] };
  },
  writes: true,
  async run(context, { path, edits }) {
    const { overlay, refusePath } = context;
    const pattern = edits.find(({ regex }) => regex !== undefined);
    if (pattern)
      return edits.length === 1
        ? editByPattern(context, path, pattern)
        : refused("a pattern is the only edit of its call");
    if (isGlob(path) && (await overlay.read(path).catch(() => null)) === null) return editMany(context, path, edits);
    const refusal = refusePath(path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
    const file = await readText(overlay, path);
    if (file.kind === "refused") return file;
    const edited = replaceTexts(file.bytes, edits, path);
    if (edited.kind === "refused") return edited;
    await overlay.set(path, edited.bytes);
    const where = edited.lines.length > 0 ? `, ${lineList(edited.lines)}` : "";
    return { kind: "answer", text: `edited ${path}${where}` };
  },
});

type Edited = { kind: "edited"; bytes: Buffer; lines: readonly number[] } | { kind: "refused"; reason: string };

/** Bytes, not text: the rest of a file that is not valid UTF-8 stays as it is. */
function replaceTexts(before: Buffer, edits: readonly Edit[], path: string): Edited {
  const inFile = before.includes("\r\n") ? toCrLf : (text: string) => text;
  let bytes = before;
  const lines: number[] = [];
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? "oldText" : `edit ${index + 1}: oldText`;
    const none = edits.length === 1 ? "" : "; none of the edits was made";
    if (edit.oldText === edit.newText) return refused(`${which} and newText are the same${none}`);
    const places = findAll(bytes, inFile(edit.oldText));
    if (places.length === 0) return refused(`${which} does not occur in ${path}${nearest(bytes, edit.oldText)}${none}`);
    if (places.length > 1 && !edit.replaceAll) {
      const at = lineList(places.map((place) => lineAt(bytes, place)));
      return refused(
        `${which} occurs more than once in ${path}: ${places.length} times, ${at}; add text around it, or set replaceAll${none}`,
      );
    }
    for (const place of places) lines.push(lineAt(bytes, place));
    bytes = replaceAt(bytes, places, Buffer.byteLength(inFile(edit.oldText)), Buffer.from(inFile(edit.newText)));
  }
  return { kind: "edited", bytes, lines };
}

async function editMany({ overlay, refusePath }: ToolContext, glob: string, edits: readonly Edit[]) {
  const accepts = pathFilter([glob]);
  const paths = (await overlay.list()).map((entry) => entry.path).filter(accepts);
  if (paths.length === 0) return refused(`no file fits ${glob}`);
  const changed = new Map<string, { bytes: Buffer; times: number }>();
  const found = edits.map(() => 0);
  for (const path of paths) {
    const file = await readText(overlay, path);
    if (file.kind === "refused") continue;
    let { bytes } = file;
    let times = 0;
    for (const [index, edit] of edits.entries()) {
      const inFile = bytes.includes("\r\n") ? toCrLf : (text: string) => text;
      const places = findAll(bytes, inFile(edit.oldText));
      if (places.length === 0) continue;
      found[index] = (found[index] ?? 0) + places.length;
      times += places.length;
      bytes = replaceAt(bytes, places, Buffer.byteLength(inFile(edit.oldText)), Buffer.from(inFile(edit.newText)));
    }
    if (times === 0) continue;
    const refusal = refusePath(path);
    if (refusal !== null) return refused(`${path}: ${refusal}; no file was changed`);
    changed.set(path, { bytes, times });
    if (changed.size > filesMax) return refused(`more than ${filesMax} files hold it; choose fewer by the glob`);
  }
  const missing = found.flatMap((times, index) => (times === 0 ? [index + 1] : []));
  if (missing.length > 0) {
    const which = edits.length === 1 ? "oldText" : `oldText of edit ${missing.join(", ")}`;
    return refused(`${which} occurs in none of the ${paths.length} files that fit ${glob}; no file was changed`);
  }
  for (const [path, { bytes }] of changed) await overlay.set(path, bytes);
  const times = [...changed.values()].reduce((sum, one) => sum + one.times, 0);
  const list = [...changed].map(([path, one]) => `${path} (${one.times})`);
  return {
    kind: "answer" as const,
    text: `replaced ${countOf(times, "time")} in ${changed.size} of ${countOf(paths.length, "file")}\n${list.join("\n")}`,
  };
}

const patternMsMax = 2_000;
const samplesShownMax = 3;

/** All places or none, and only if there are as many as expected: a pattern often matches more than its author thinks. */
async function editByPattern({ overlay, refusePath }: ToolContext, glob: string, edit: Edit) {
  const accepts = pathFilter([glob]);
  const paths = (await overlay.list()).map((entry) => entry.path).filter((path) => path === glob || accepts(path));
  if (paths.length > filesMax) return refused(`more than ${filesMax} files fit ${glob}; choose fewer`);
  const files: { path: string; text: string }[] = [];
  for (const path of paths) {
    const file = await readText(overlay, path);
    const text = file.kind === "text" ? file.bytes.toString() : null;
    if (file.kind === "text" && text !== null && Buffer.from(text).equals(file.bytes)) files.push({ path, text });
  }
  const changed = await replaceByPattern(files, edit, patternMsMax);
  if (changed.kind === "refused") return changed;
  const places = changed.files.reduce((sum, { count }) => sum + count, 0);
  if (places === 0) return refused(`the pattern matches nothing in ${countOf(files.length, "file")}`);
  const refusal = changed.files.map(({ path }) => refusePath(path)).find((reason) => reason !== null);
  if (refusal) return refused(`${refusal}; no file was changed`);
  const list = changed.files.map(({ path, count }) => `${path} (${count})`).join("\n");
  if (edit.regex !== places) {
    const samples = changed.samples.slice(0, samplesShownMax).map(([from, to]) => `${from} → ${to}`);
    return refused(
      `nothing was edited: the pattern matches ${countOf(places, "place")}, not ${edit.regex}; repeat it with regex: ${places} if that is meant\n${[...samples, list].join("\n")}`,
    );
  }
  for (const { path, text } of changed.files) await overlay.set(path, Buffer.from(text));
  return { kind: "answer" as const, text: `replaced ${countOf(places, "time")}\n${list}` };
}

function findAll(bytes: Buffer, text: string): readonly number[] {
  const places: number[] = [];
  const length = Buffer.byteLength(text);
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + length)) places.push(at);
  return places;
}

function replaceAt(bytes: Buffer, places: readonly number[], length: number, by: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const place of places) {
    pieces.push(bytes.subarray(from, place), by);
    from = place + length;
  }
  return Buffer.concat([...pieces, bytes.subarray(from)]);
}

/** Comparing the lines of a larger page would take too long. */
const comparedBytesMax = 64 * 1024;

/** Where the text probably is: its first line, or the line that shares most words with it. */
function nearest(bytes: Buffer, oldText: string): string {
  if (bytes.length > comparedBytesMax) return "";
  const first = oldText.split("\n").find((line) => line.trim() !== "") ?? "";
  const plain = (line: string) => line.replaceAll(/\s+/g, " ").trim().toLowerCase();
  const goal = plain(first);
  const lines = bytes.toString().split(/\r?\n/);
  const at = goal.length < 4 ? [] : lines.flatMap((line, index) => (plain(line).includes(goal) ? [index + 1] : []));
  if (at.length > 0)
    return `; its first line is like ${lineList(at)}, the text differs from there (spaces or case count)`;
  const wanted = new Set(goal.slice(0, lineCharactersMax).split(" "));
  let best = { line: 0, share: 0 };
  for (const [index, line] of lines.entries()) {
    const words = new Set(plain(line.slice(0, lineCharactersMax)).split(" "));
    const share = [...wanted].filter((word) => words.has(word)).length / Math.max(wanted.size, words.size);
    if (share > best.share) best = { line: index + 1, share };
  }
  if (best.share < 0.5) return `; its ${countOf(lines.length, "line")} hold nothing like it`;
  return `; line ${best.line} is nearest: ${JSON.stringify(lines[best.line - 1]?.slice(0, lineCharactersMax))}`;
}

function lineAt(bytes: Buffer, place: number): number {
  let line = 1;
  for (let at = bytes.indexOf(0x0a); at !== -1 && at < place; at = bytes.indexOf(0x0a, at + 1)) line += 1;
  return line;
}

function lineList(lines: readonly number[]): string {
  const shown = [...new Set(lines)].slice(0, placesShownMax);
  const more = new Set(lines).size > shown.length ? " and more" : "";
  return `line${shown.length === 1 && more === "" ? "" : "s"} ${shown.join(", ")}${more}`;
}

function refused(reason: string): { kind: "refused"; reason: string } {
  return { kind: "refused", reason };
}

function toCrLf(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r\n");
}
