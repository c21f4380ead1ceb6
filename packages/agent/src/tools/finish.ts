import { reachesOut } from "@emend/base/markdown.ts";
import { plainText } from "@emend/base/page-lines.ts";
import { secretsIn } from "@emend/base/secrets/secrets-in.ts";
import { citedLinesMax, citeLines, readCitable } from "@emend/tree";
import { Type } from "typebox";
import type { Source } from "../agent.ts";
import { contextPath, locate } from "./paths.ts";
import { readText } from "./read-file.ts";
import { defineTool, type ToolContext } from "./tool.ts";

const words = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
const list = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 40, description }));

/** The input that the loop reads back from an accepted call. */
export const FinishInput = Type.Object(
  {
    title: words(200),
    summary: words(20_000),
    reply: words(4_000),
    sources: list("path:line: sentence"),
    disputes: list("path:line: why"),
  },
  { additionalProperties: false },
);

/** The answer to an accepted call. */
export const handedOver = "handed over";

export const finishTool = defineTool({
  name: "finish",
  description:
    "Hands over. On findings: repair or dispute, finish again; what you leave out stays. In a follow-up `reply`, a commit subject first, is about it, `summary` about the whole pull request. No links or HTML outside code.",
  input: FinishInput,
  // In earlier releases `title` was the round's, and the pull request's was separate.
  older({ pullRequestTitle, ...given }) {
    const { sources } = given;
    const input = Array.isArray(sources) ? { ...given, sources: sources.map(inWords) } : given;
    return pullRequestTitle === undefined ? input : { ...input, title: pullRequestTitle, reply: given.title };
  },
  async run(context, { title = "", summary = "", reply = "", sources = [], disputes = [] }, signal) {
    const said = context.handedOver;
    if (/[\r\n]/.test(title)) return { kind: "refused", reason: "the title must be one line" };
    if (title === "" && !said?.title && !context.isFollowUp)
      return { kind: "refused", reason: "give a title and a summary" };
    if (summary === "" && !said?.summary)
      return { kind: "refused", reason: "give a summary of the whole pull request" };
    // A hostile page must not get images or links into the pull request.
    if ([title, summary, reply, ...disputes].some(reachesOut)) {
      return { kind: "refused", reason: "the words must hold no images, links, URLs or HTML outside code spans" };
    }
    const problems = sources.length === 0 ? [] : await verifySources(context, sources, signal);
    if (problems.length > 0) return { kind: "refused", reason: `sources: ${problems.join("; ")}` };
    return { kind: "answer", text: handedOver };
  },
});

/** A source as one text; models also give `{ at, supports }`. */
function inWords(source: unknown): unknown {
  const { at, supports } = (source ?? {}) as Record<string, unknown>;
  if (typeof at !== "string") return source;
  return typeof supports === "string" && supports !== "" ? `${at}: ${supports}` : at;
}

/** `path:line` or `@name/path:line`, or a range of lines; then the sentence that they support. Null if there is no line. */
export function parseSource(names: readonly string[], words: string): Source | null {
  const [, place, line, last, supports] =
    /^(.+?):(\d{1,7})(?:[-:](\d{1,7}))?(?::?\s+(\S[\s\S]*))?$/.exec(words.trim()) ?? [];
  if (place === undefined || Number(line) < 1) return null;
  const inContext = contextPath(names, place);
  const source = inContext ? { repository: inContext.name, path: inContext.path } : { repository: null, path: place };
  return {
    ...source,
    line: Number(line),
    ...(Number(last) > Number(line) && { lineEnd: Number(last) }),
    ...(supports !== undefined && { supports: supports.replaceAll(/^["“]|["”]$/g, "") }),
  };
}

/** The cited lines, to be held against later commits. Null: they cannot be kept, or must not, as a credential. */
export async function readCited(
  trees: Pick<ToolContext, "base" | "context">,
  source: Source,
  knownSecrets: readonly string[],
  signal: AbortSignal,
): Promise<{ lineEnd: number; text: string; symbol: string | null } | null> {
  const { repository, path, line, lineEnd = line } = source;
  const tree = repository === null ? trees.base : await trees.context.open(repository, signal);
  const content = await readCitable(tree, path);
  const cited =
    content === null ? null : (citeLines(path, content, line, lineEnd) ?? citeLines(path, content, line, line));
  if (!cited || (await secretsIn(cited.text, knownSecrets)).length > 0) return null;
  return { lineEnd: cited.lineEnd, text: cited.text, symbol: cited.symbol };
}

/** Problems with a model's sources: a reviewer must be able to find every cited line. */
async function verifySources(
  context: Pick<ToolContext, "base" | "context" | "overlay" | "pull">,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const pages = context.overlay.entries().map(({ content }) => plainText(content?.toString() ?? ""));
  // From the base, not the edits: a change is not a source for itself.
  const trees = { overlay: context.base, context: context.context };
  for (const words of sources) {
    const source = parseSource(context.context.names, words);
    if (!source) {
      problems.push(`${JSON.stringify(words)} is not path:line`);
      continue;
    }
    const { supports } = source;
    if (supports !== undefined && !pages.some((page) => page.includes(plainText(supports)))) {
      problems.push(`no changed page says ${JSON.stringify(supports.slice(0, 100))}`);
    }
    const { line, lineEnd = line } = source;
    if (lineEnd - line >= citedLinesMax) {
      problems.push(
        `${JSON.stringify(words.slice(0, 100))} cites more than ${citedLinesMax} lines: cite those that say it`,
      );
      continue;
    }
    const place = source.repository === null ? source.path : `@${source.repository}/${source.path}`;
    const { tree, path } = await locate(trees, place, signal);
    const file = await readText(tree, path);
    if (file.kind === "refused") problems.push(file.reason);
    else if (source.line > countLines(file.bytes)) problems.push(`${place} has ${countLines(file.bytes)} lines`);
    else if (source.repository === null && (await isFromPull(context, source, file.bytes, signal)))
      problems.push(`this pull request wrote ${place}:${source.line}, and a change is no source for itself`);
  }
  return problems;
}

/** Whether an earlier round wrote one of the cited lines: a follow-up's base has them. */
async function isFromPull(
  { pull }: Pick<ToolContext, "pull">,
  { path, line, lineEnd = line }: Source,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<boolean> {
  const opened = await pull(signal);
  if (!opened?.entries.some((entry) => entry.path === path)) return false;
  const before = new Set((await readCitable(opened.base, path))?.split(/\r?\n/));
  const cited = bytes
    .toString()
    .split(/\r?\n/)
    .slice(line - 1, lineEnd);
  return cited.some((text) => text.trim() !== "" && !before.has(text));
}

function countLines(bytes: Buffer): number {
  const breaks = bytes.toString("latin1").split("\n").length;
  return bytes.at(-1) === 0x0a ? breaks - 1 : breaks;
}
