import {
  headingsOf,
  isNamed,
  lineCount,
  textLinesOf as linesOf,
  listed,
  namesOf,
  type PageLine,
  pageLines,
  plainText,
  titleOf,
} from "@emend/base/page-lines.ts";
import type { Finding } from "@emend/site";

interface PageChange {
  path: string;
  before: string;
  /** Null: the page is deleted. */
  after: string | null;
}

/** A page that loses more than this share of its lines loses content. */
const lostShareMax = 0.25;
const lostLinesMin = 5;
/** Text counts as kept if at least this share of its lines is somewhere in the change. */
const keptShare = 0.5;

/**
 * Pages, sections and samples that a change takes away unasked. Whether a request wants that is a matter of language, so
 * only names and figures decide: the request names what goes, or it names the page and the summary says what it loses.
 */
export function findLostContent(
  pages: readonly PageChange[],
  asked: readonly string[],
  summary = "",
): readonly Finding[] {
  const kept: Kept = {
    lines: new Set(pages.flatMap(({ after }) => linesOf(after ?? ""))),
    // A section that became a page has its heading as that page's title.
    headings: new Set(
      pages.flatMap(({ after }) => [
        titleOf(after ?? ""),
        ...headingsOf(pageLines(after ?? "")).map(({ name }) => name),
      ]),
    ),
  };
  const [request, told] = [plainText(asked.join("\n")), plainText(summary)];
  return pages.flatMap((page) => {
    if (page.after === null) return isDeletedUnasked(page, kept.lines, request) ? [deletedPage(page)] : [];
    const message = lossOf(page, page.after, kept, { request, told });
    if (message === null) return [];
    return [{ check: "lost-content", severity: "error", path: page.path, line: 1, column: 1, message } as const];
  });
}

function deletedPage({ path }: PageChange): Finding {
  const message = "this page was deleted, and the request does not name it";
  return { check: "deleted-page", severity: "error", path, line: 1, column: 1, message };
}

function isDeletedUnasked({ path, before }: PageChange, kept: ReadonlySet<string>, request: string): boolean {
  const isMoved = linesOf(before).length > 0 && isKept(linesOf(before), kept);
  return !isMoved && !isNamed(request, namesOf(path, before));
}

function lossOf(
  { path, before }: PageChange,
  after: string,
  kept: Kept,
  { request, told }: { request: string; told: string },
): string | null {
  const [old, now] = [pageLines(before), pageLines(after)];
  const figures = `${lineCount(before)} → ${lineCount(after)} lines`;
  const isTold = (names: readonly string[]) =>
    isNamed(request, namesOf(path, before)) &&
    [plainText(figures), ...names].every((name) => ` ${told} `.includes(` ${name} `));
  const loss = (what: string) => `the page loses ${what} (${figures}), which the request does not name`;

  const present = headingsOf(now).map(({ name }) => name);
  const names = new Set(present);
  const former = headingsOf(old);
  const gone = former.filter(({ name }) => !kept.headings.has(name));
  const newOnes = present.length - former.filter(({ name }) => names.has(name)).length;
  // A heading that another one stands for now, above the same text, was renamed.
  const lost = gone.filter(({ body }, index) => index >= newOnes || !isKept(body, kept.lines));
  const sections = lost.filter(({ name }) => !isNamed(request, [name]));
  if (sections.length > 0 && !isTold(sections.map(({ name }) => name))) {
    return loss(listed(sections.map(({ shown }) => `“${shown}”`)));
  }

  const asked = new Set(lost.flatMap(({ body }) => body));
  const samples = samplesOf(old).filter((sample) => !isKept(sample, kept.lines) && !isKept(sample, asked));
  const lostSamples = Math.min(samples.length, samplesOf(old).length - samplesOf(now).length);
  if (lostSamples > 0 && !isTold([])) return loss(lostSamples === 1 ? "a code block" : `${lostSamples} code blocks`);

  const had = linesOf(before);
  const known = new Set(had);
  const written = linesOf(after).filter((line) => !known.has(line)).length;
  const left = had.filter((line) => !kept.lines.has(line) && !asked.has(line)).length - written;
  if (left < Math.max(lostLinesMin, had.length * lostShareMax) || isTold([])) return null;
  return loss(`${left} of its ${had.length} lines of text`);
}

/** What is somewhere in the change, for comparisons. */
interface Kept {
  lines: ReadonlySet<string>;
  headings: ReadonlySet<string>;
}

function samplesOf(lines: readonly PageLine[]): readonly (readonly string[])[] {
  const samples: string[][] = [];
  for (const [index, { kind, text }] of lines.entries()) {
    if (kind === "sample" && lines[index - 1]?.kind === "fence") samples.push([]);
    if (kind === "sample" && text.trim() !== "") samples.at(-1)?.push(plainText(text));
  }
  return samples.filter((sample) => sample.length > 0);
}

function isKept(lines: readonly string[], kept: ReadonlySet<string>): boolean {
  return lines.filter((line) => kept.has(line)).length >= lines.length * keptShare;
}
