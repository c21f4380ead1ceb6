import { pageLines } from "@emend/base/page-lines.ts";
import type { SearchMatch, Tree } from "@emend/tree";
import { Type } from "typebox";
import { contextPath, copiesAmong, countList, countOf, isGlob, locate, pathFilter } from "./paths.ts";
import { readText } from "./read-file.ts";
import { defineTool, fitItems, type ToolContext } from "./tool.ts";

const matchesMax = 5_000;
/** The limit for one result: a strong model asks for more, and a weak one is not flooded. */
const matchesShownMax = 80;
const filesShownMax = 200;
const lineCharactersMax = 200;
const contextLinesMax = 20;

export const searchTool = defineTool({
  name: "search",
  description: "Finds lines. `include`, `exclude`: folder, file or glob.",
  input: Type.Object(
    {
      pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
      regex: Type.Optional(Type.Boolean()),
      ignoreCase: Type.Optional(Type.Boolean()),
      include: Type.Optional(Type.String()),
      exclude: Type.Optional(Type.String()),
      context: Type.Optional(Type.Integer({ minimum: 0, maximum: contextLinesMax })),
      filesOnly: Type.Optional(Type.Boolean()),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    },
    { additionalProperties: false },
  ),
  older: ({ under, ...input }) => (under === undefined ? input : { ...input, include: under }),
  async run(context, input, signal) {
    const { pattern, regex = false, ignoreCase = false, include = "", exclude = "" } = input;
    const inside = context.context.names.find(
      (name) => !include.startsWith(`@${name}`) && include.includes(`@${name}`),
    );
    if (inside !== undefined) {
      return { kind: "refused", reason: `search one repository at a time: @${inside} needs a call of its own` };
    }
    const { tree, path: wanted, prefix } = await locate(context, include, signal);
    const accepts = pathFilter([wanted]);
    const isExcluded = exclude === "" ? () => false : pathFilter([withoutName(context, exclude)]);
    const { matches, truncated } = await tree.search(
      {
        pattern,
        kind: regex ? "regex" : "literal",
        ignoreCase,
        matchesMax,
        // A plain folder is passed to git literally, whatever characters it has.
        ...(isGlob(wanted) || /^\.?\/?$/.test(wanted) ? {} : { under: wanted.replace(/^\.\//, "") }),
        accepts: (path) => accepts(path) && !isExcluded(path),
      },
      signal,
    );
    if (matches.length === 0) return { kind: "answer", text: await whyNone(tree, wanted) };
    const { own, folded } = await foldCopies(tree, matches, wanted);
    const ordered = docsFirst(own, context.docsDir);
    const total = `${countOf(ordered.length, "match", "matches")} in ${countOf(new Set(ordered.map(({ path }) => path)).size, "file")}${truncated ? ", and more: narrow it down" : ""}`;
    const others = folded.size > 0 ? `\nalso, not shown: ${countList(folded)} (use include)` : "";
    const shown = input.filesOnly
      ? listFiles(ordered, prefix, input.offset ?? 0, context.outputBytesMax)
      : await listMatches(tree, ordered, { ...input, prefix, outputBytesMax: context.outputBytesMax });
    return { kind: "answer", text: `${total}${others}\n${shown}` };
  },
});

function withoutName(context: ToolContext, pattern: string): string {
  return contextPath(context.context.names, pattern)?.path ?? pattern;
}

/** A path pattern without any file is reported as a mistake. */
async function whyNone(tree: Tree, wanted: string): Promise<string> {
  const accepts = pathFilter([wanted]);
  return (await tree.list()).some(({ path }) => accepts(path)) ? "no matches" : `no matches: no file fits ${wanted}`;
}

/** Copies are only counted, unless there are only copies. */
async function foldCopies(tree: Tree, matches: readonly SearchMatch[], wanted: string) {
  const copyOf = copiesAmong((await tree.list()).map(({ path }) => path));
  const folded = new Map<string, number>();
  const own = matches.filter(({ path }) => {
    const copy = copyOf(path);
    if (copy === null || wanted === copy || wanted.startsWith(`${copy}/`)) return true;
    folded.set(copy, (folded.get(copy) ?? 0) + 1);
    return false;
  });
  return own.length > 0 ? { own, folded } : { own: matches, folded: new Map<string, number>() };
}

/** Files that the job may change come first. */
function docsFirst(matches: readonly SearchMatch[], docsDir: string): readonly SearchMatch[] {
  if (docsDir === "") return matches;
  const isInside = ({ path }: SearchMatch) => path.startsWith(`${docsDir}/`);
  return [...matches.filter(isInside), ...matches.filter((match) => !isInside(match))];
}

function listFiles(matches: readonly SearchMatch[], prefix: string, offset: number, bytesMax: number): string {
  const files = [...Map.groupBy(matches, ({ path }) => path)].slice(offset);
  const items = files.slice(0, filesShownMax).map(([path, found]) => `${prefix}${path} (${found.length})`);
  return fitItems(items, bytesMax - 200, (shown) =>
    shown < files.length ? `… ${files.length - shown} more files; go on with offset: ${offset + shown}` : "",
  ).text;
}

/** Each file is named once, above its lines. */
async function listMatches(
  tree: Tree,
  matches: readonly SearchMatch[],
  input: { context?: number; offset?: number; prefix: string; outputBytesMax: number },
): Promise<string> {
  const { offset = 0, context = 0, prefix } = input;
  const left = matches.slice(offset);
  const items: string[] = [];
  let last = { path: "", line: 0 };
  let samples: ReadonlySet<number> | null = null;
  for (const match of left.slice(0, matchesShownMax)) {
    const isSameFile = match.path === last.path;
    if (!isSameFile) samples = await samplesOf(tree, match.path);
    const lines = await around(tree, match, { context, shownTo: isSameFile ? last.line : 0, samples });
    items.push([...(isSameFile ? [] : [prefix + match.path]), ...lines].join("\n"));
    last = { path: match.path, line: match.line + context };
  }
  return fitItems(items, input.outputBytesMax - 400, (shown) =>
    shown < left.length ? `… ${left.length - shown} more matches; go on with offset: ${offset + shown}` : "",
  ).text;
}

/** The line with its context, without lines that were already shown. */
async function around(
  tree: Tree,
  match: SearchMatch,
  { context, shownTo, samples }: { context: number; shownTo: number; samples: ReadonlySet<number> | null },
): Promise<readonly string[]> {
  const { line, text, column } = match;
  const inCode = samples?.has(line) || (samples && isInSpan(text, column)) ? " (code)" : "";
  const isCut = Buffer.byteLength(text) > 900 && column > 700;
  if (context === 0 && !isCut) return [`${line}:${inCode} ${middle(text, column)}`];
  const file = await readText(tree, match.path);
  if (file.kind === "refused") return [`${line}:${inCode} ${middle(text, column)}`];
  const lines = file.bytes.toString().split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const from = Math.max(1, line - context, Math.min(shownTo + 1, line));
  return lines.slice(from - 1, line + context).map((one, index) => {
    const number = from + index;
    return number === line ? `${number}:${inCode} ${middle(one, column)}` : `${number}- ${middle(one, 0)}`;
  });
}

/** The lines of a page that are in code blocks. Null if it is not a page. */
async function samplesOf(tree: Tree, path: string): Promise<ReadonlySet<number> | null> {
  if (!/\.(?:mdx?|markdown)$/i.test(path)) return null;
  const file = await readText(tree, path);
  if (file.kind === "refused") return null;
  return new Set(pageLines(file.bytes.toString()).flatMap(({ kind, line }) => (kind === "sample" ? [line] : [])));
}

/** Whether an odd number of backticks precedes the match, and another follows. */
function isInSpan(text: string, columnBytes: number): boolean {
  const bytes = Buffer.from(text);
  const before = bytes.subarray(0, columnBytes).toString().split("`").length - 1;
  return before % 2 === 1 && bytes.subarray(columnBytes).includes("`");
}

/** The part of a long line that contains the match. */
function middle(text: string, columnBytes: number): string {
  if (text.length <= lineCharactersMax) return text;
  const at = Buffer.from(text).subarray(0, columnBytes).toString().length;
  const start = Math.max(0, Math.min(at - lineCharactersMax / 3, text.length - lineCharactersMax));
  const part = text.slice(start, start + lineCharactersMax).toWellFormed();
  return `${start > 0 ? "…" : ""}${part}${start + lineCharactersMax < text.length ? "…" : ""}`;
}
