import {
  headingsOf,
  isNamed,
  lineCount,
  textLinesOf as linesOf,
  listed,
  namesOf,
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
 * Pages, sections and text that a change takes away unasked. Whether a request wants that is a matter of language, so only
 * names and figures decide: the request names what goes, or it names the page and the summary has the figures.
 */
export function findLostContent(
  pages: readonly PageChange[],
  asked: readonly string[],
  summary = "",
): readonly Finding[] {
  const kept = new Set(pages.flatMap(({ after }) => linesOf(after ?? "")));
  // A section that became a page has its heading as that page's title.
  const headings = new Set(
    pages.flatMap(({ after }) => [titleOf(after ?? ""), ...sectionsOf(after).map(({ name }) => name)]),
  );
  const [request, told] = [plainText(asked.join("\n")), plainText(summary)];
  const isKept = (lines: readonly string[]) =>
    lines.filter((line) => kept.has(line)).length >= lines.length * keptShare;

  const gained = pages.reduce((sum, { before, after }) => sum + Math.max(0, fences(after ?? "") - fences(before)), 0);

  function lossOf({ path, before, after }: PageChange): string | null {
    const isPageNamed = isNamed(request, namesOf(path, before));
    const had = linesOf(before);
    const known = new Set(had);
    if (after === null) {
      if (isPageNamed || (had.length > 0 && isKept(had))) return null;
      return "this page was deleted, and the request does not name it";
    }
    const figures = `${lineCount(before)} → ${lineCount(after)} lines`;
    if (isPageNamed && told.includes(plainText(figures))) return null;
    const loss = (what: string) => `the page loses ${what} (${figures}), which the request does not name`;
    const old = sectionsOf(before);
    const gone = old.filter(({ name }) => !headings.has(name));
    const former = new Set(old.map(({ name }) => name));
    const newOnes = sectionsOf(after).filter(({ name }) => !former.has(name)).length;
    // A heading that another one stands for now, above the same text, was renamed.
    const lost = gone.filter(({ body }, index) => index >= newOnes || !isKept(body));
    const unnamed = lost.filter(({ name }) => !isNamed(request, [name]));
    if (unnamed.length > 0) return loss(listed(unnamed.map(({ shown }) => `“${shown}”`)));
    const named = new Set(lost.flatMap(({ body }) => body));
    const samples = fences(before) - fences(after) - gained;
    if (samples > 0 && lost.length === 0) return loss(samples === 1 ? "a code block" : `${samples} code blocks`);
    const written = linesOf(after).filter((line) => !known.has(line)).length;
    const left = had.filter((line) => !kept.has(line) && !named.has(line)).length - written;
    return left < Math.max(lostLinesMin, had.length * lostShareMax)
      ? null
      : loss(`${left} of its ${had.length} lines of text`);
  }

  return pages.flatMap((page): Finding[] => {
    const message = lossOf(page);
    const check = page.after === null ? "deleted-page" : "lost-content";
    return message === null ? [] : [{ check, severity: "error", path: page.path, line: 1, column: 1, message }];
  });
}

function sectionsOf(text: string | null) {
  return headingsOf(pageLines(text ?? ""));
}

function fences(text: string): number {
  return pageLines(text).filter(({ kind }) => kind === "fence").length / 2;
}
