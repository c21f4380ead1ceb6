import { createHash } from "node:crypto";
import { dialectKey } from "../parse/dialect.ts";
import type { PageBrief } from "../parse/page-brief.ts";
import { openProseThread } from "../prose/prose-thread.ts";
import type { ProsePage, ProseReport, ProseRules } from "../prose/prose-worker.ts";
import { valeConfigFiles } from "../prose/vale/config.ts";
import { loadStyles } from "../prose/vale/load-styles.ts";
import { readProjectWords } from "../prose/word-list.ts";
import type { Site } from "../site.ts";
import type { OptionalCheck } from "./check.ts";
import { quoted, type Report } from "./report.ts";

type Judged = Map<string, { key: string; reports: readonly ProseReport[] }>;

// An unchanged page keeps its brief, even if the rest of the site changes.
const judgedBy = new WeakMap<PageBrief, Judged>();

/** Runs prose rules over pages. Unchanged pages with unchanged rules are not read again. */
async function* judgePages(
  site: Site,
  rules: ProseRules,
  judge: (page: ProsePage) => Promise<readonly ProseReport[]>,
  isJudged: (path: string) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<Report> {
  const rulesKey = createHash("sha1").update(JSON.stringify(rules)).digest("hex");
  for (const { path, brief } of site.index.nodes.values()) {
    signal?.throwIfAborted();
    if (brief.unread || !isJudged(path)) continue;
    const dialect = site.model.dialect(path);
    // The active rules also depend on the path.
    const key = `${rulesKey} ${dialectKey(dialect)} ${path}`;
    const judged: Judged = judgedBy.get(brief) ?? new Map();
    judgedBy.set(brief, judged);
    let known = judged.get(rules.kind);
    if (known?.key !== key) {
      const bytes = await site.tree.read(path);
      if (bytes === null) continue;
      known = { key, reports: await judge({ path, bytes, dialect }) };
      judged.set(rules.kind, known);
    }
    for (const report of known.reports) yield { path, ...report };
  }
}

/** Off by default: the dictionary needs the project's own words first. */
export const spelling: OptionalCheck = {
  id: "spelling",
  severity: "warning",
  async *run(site, { settings, signal }) {
    const text = await readText(settings.rulesFrom, settings.dictionary);
    const rules: ProseRules = { kind: "spelling", words: readProjectWords(text ?? "") };
    const thread = openProseThread(rules);
    const judge = async (page: ProsePage): Promise<readonly ProseReport[]> => {
      const found = await thread.judge(page);
      return Array.isArray(found) ? found : [];
    };
    try {
      yield* judgePages(site, rules, judge, isSource(site), signal);
    } finally {
      await thread.close();
    }
  },
};

async function readText({ index, tree }: Site, path: string): Promise<string | null> {
  const bytes = index.files.has(path) ? await tree.read(path) : null;
  return bytes === null ? null : Buffer.from(bytes).toString("utf8");
}

/** Pages in the site's default language. Translations are excluded. */
function isSource({ index: { nodes, model } }: Site): (path: string) => boolean {
  const translations = new Set([...nodes.keys()].flatMap((path) => model.translationsOf?.(path) ?? []));
  return (path) => !translations.has(path) && (model.routeScope?.(path) ?? "") === "";
}

const rulesMax = 2000;

/** Off by default. Uses Vale's rules: `.vale.ini` and its styles, from the repository. */
export const proseRules: OptionalCheck = {
  id: "prose-rules",
  severity: "warning",
  async *run(site, { settings: { rulesFrom }, signal }) {
    const configFile = valeConfigFiles.find((path) => rulesFrom.index.files.has(path));
    if (configFile === undefined) {
      const message = `The check prose-rules is on, but there is no ${valeConfigFiles[0]}; add one, or turn the check off.`;
      yield { path: ".emend/check.json", line: 1, column: 1, message };
      return;
    }
    const files: Record<string, string> = { [configFile]: (await readText(rulesFrom, configFile)) ?? "" };
    const { stylesPath } = loadStyles(configFile, files).config;
    const listed = [...rulesFrom.index.files.keys()].filter(
      (path) => path.startsWith(`${stylesPath}/`) && /\.(?:ya?ml|txt)$/.test(path),
    );
    for (const path of listed.slice(0, rulesMax)) files[path] = (await readText(rulesFrom, path)) ?? "";
    const styles = loadStyles(configFile, files);
    for (const { path, line, message } of styles.problems)
      yield { path, line, column: 1, message: `This is not used: ${message}.`, severity: "warning" };
    if (styles.rules.length === 0) return;

    const left: string[] = [];
    const rules = { kind: "vale", configFile, files, left } as const;
    let thread = openProseThread(rules);
    const slow: Report[] = [];
    async function judge(page: ProsePage): Promise<readonly ProseReport[]> {
      const found = await thread.judge(page);
      if (Array.isArray(found)) return found;
      // A pattern that does not terminate would delay every page. The rule is skipped from now on.
      const name = styles.rules[found.slow]?.name ?? "";
      const path =
        Object.keys(files).find((file) => file.endsWith(`/${name.replace(".", "/")}.yml`)) ?? (configFile as string);
      const message = `This is not used: the rule ${name} took longer than 10 seconds on ${quoted(page.path)}. Simplify its pattern.`;
      slow.push({ path, line: 1, column: 1, message, severity: "warning" });
      left.push(name);
      await thread.close();
      thread = openProseThread(rules);
      return judge(page);
    }
    try {
      yield* judgePages(site, { ...rules, left: [] }, judge, () => true, signal);
      yield* slow;
    } finally {
      await thread.close();
    }
  },
};
