import { createHash } from "node:crypto";
import { dialectKey } from "../parse/dialect.ts";
import type { PageBrief } from "../parse/page-brief.ts";
import { openProseThread } from "../prose/prose-thread.ts";
import type { ProseReport, ProseRules } from "../prose/prose-worker.ts";
import { readProjectWords } from "../prose/word-list.ts";
import type { Site } from "../site.ts";
import type { OptionalCheck, Report } from "./check.ts";

type Judged = Map<string, { key: string; reports: readonly ProseReport[] }>;

// A page that stays the same keeps its brief, whatever else of the site changes.
const judgedBy = new WeakMap<PageBrief, Judged>();

/** Runs rules over what every page says to its readers; pages and rules that did not change are not read again. */
async function* judgePages(
  id: string,
  site: Site,
  rules: ProseRules,
  isJudged: (path: string) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<Report> {
  const thread = openProseThread(rules);
  const rulesKey = createHash("sha1").update(JSON.stringify(rules)).digest("hex");
  try {
    for (const { path, brief } of site.index.nodes.values()) {
      signal?.throwIfAborted();
      if (brief.unread || !isJudged(path)) continue;
      const dialect = site.model.dialect(path);
      const key = `${rulesKey} ${dialectKey(dialect)}`;
      const judged: Judged = judgedBy.get(brief) ?? new Map();
      judgedBy.set(brief, judged);
      let known = judged.get(id);
      if (known?.key !== key) {
        const bytes = await site.tree.read(path);
        if (bytes === null) continue;
        known = { key, reports: (await thread.judge({ path, bytes, dialect })) ?? [tooSlow] };
        judged.set(id, known);
      }
      for (const report of known.reports) yield { path, ...report };
    }
  } finally {
    await thread.close();
  }
}

const tooSlow: ProseReport = {
  line: 1,
  column: 1,
  message: "This page took longer than 10 seconds to check and was left out; simplify the patterns, or split the page.",
};

/** Off unless it is set: a dictionary has to learn a project's own words first. */
export const spelling: OptionalCheck = {
  id: "spelling",
  severity: "warning",
  async *run(site, { settings, signal }) {
    const bytes = site.index.files.has(settings.dictionary) ? await site.tree.read(settings.dictionary) : null;
    const words = bytes === null ? [] : readProjectWords(Buffer.from(bytes).toString("utf8"));
    yield* judgePages("spelling", site, { kind: "spelling", words }, isSource(site), signal);
  },
};

/** Pages in the language that the site is written in: translations are in others. */
function isSource({ index: { nodes, model } }: Site): (path: string) => boolean {
  const translations = new Set([...nodes.keys()].flatMap((path) => model.translationsOf?.(path) ?? []));
  return (path) => !translations.has(path) && (model.routeScope?.(path) ?? "") === "";
}
