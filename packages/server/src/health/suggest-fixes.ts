import { renameOrders, updateOrder } from "@emend/base/repair-prompt.ts";
import type { DashboardSuggestion, DashboardTruthPage } from "@emend/contract";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import { getProject } from "../accounts/projects/projects.ts";
import type { Queryable } from "../db/pool.ts";
import { readSiteHealth, type SiteCheck, type SiteFinding } from "./site-checks.ts";

const rulesModel = "emend/rules";
const orphansMax = 20;
const findingsMax = 40;

/** Jobs that would fix what the site checks found, in words that the project's model understands. */
export async function suggestFixes(
  deps: { db: Queryable; defaultModel: string },
  projectId: string,
): Promise<readonly DashboardSuggestion[]> {
  const project = await getProject(deps.db, projectId);
  const { checks, findings } = await readSiteHealth(deps.db, projectId);
  const latest = checks.at(-1);
  if (!project || !latest) return [];
  const isRules = allowedModels(project.settings, deps.defaultModel)[0] === rulesModel;
  const fixes = [
    ...fixLinks(latest, isRules),
    ...followRenames(findings),
    ...listOrphans(findings, countOf(latest, ["orphan-page"])),
    ...(isRules ? [] : mendTheRest(findings)),
  ];
  const underWay = await findUnderWay(deps.db, projectId, fixes);
  return fixes.map((fix) => ({ ...fix, ...(underWay.has(fix.prompt) && { underWay: underWay.get(fix.prompt) }) }));
}

/** What no longer agrees with the code, by page, with the job that would repair each page. */
export async function listTruth(
  deps: { db: Queryable; defaultModel: string },
  projectId: string,
  /** Claims are read when the page is shown: people confirm and remove them between checks. */
  found: { checked: readonly SiteFinding[]; claims: readonly SiteFinding[] },
): Promise<readonly DashboardTruthPage[]> {
  const project = await getProject(deps.db, projectId);
  if (!project) return [];
  const isRules = allowedModels(project.settings, deps.defaultModel)[0] === rulesModel;
  const pages = Map.groupBy(
    [...found.checked.filter(({ check }) => check === "stale-reference"), ...found.claims],
    ({ path }) => path,
  );
  const plans = [...pages].map(([path, findings]) => ({ path, findings, prompt: repairOf(findings, isRules) }));
  const prompts = plans.flatMap(({ prompt }) => (prompt === null ? [] : [{ prompt, because: "" }]));
  const underWay = await findUnderWay(deps.db, projectId, prompts);
  return plans
    .sort((a, b) => a.path.localeCompare(b.path, "en"))
    .map(({ path, findings, prompt }) => ({
      path,
      findings: findings
        .toSorted((a, b) => a.line - b.line)
        .map(({ renamed: _none, claim: _texts, ...finding }) => ({ repository: null, cause: null, ...finding })),
      fix:
        prompt === null
          ? { cannot: "The built-in rules can only rename. Edit the page, or let a language model do it." }
          : { prompt, ...(underWay.has(prompt) && { underWay: underWay.get(prompt) }) },
    }));
}

/** Null: the rules can do nothing here. */
function repairOf(findings: readonly SiteFinding[], isRules: boolean): string | null {
  const rest = findings.filter(({ renamed }) => !renamed);
  const orders = [...renameOrders(findings), (isRules ? null : updateOrder(rest)) ?? []].flat();
  return orders.length === 0 ? null : orders.join(isRules ? "\n" : "\n\n");
}

/** Each with the job that would fix it alone, where one can. */
export function withFixes(findings: readonly SiteFinding[], isRules: boolean) {
  return findings.map((finding) => {
    const fix = fixInstructionFor(finding, isRules);
    return fix === null ? finding : { ...finding, fix };
  });
}

/** The job that would fix one finding. Null: a person has to. */
export function fixInstructionFor(finding: SiteFinding, isRules: boolean): string | null {
  const { check, path, line, message, severity, renamed, isFixable } = finding;
  if (renamed) return renameOrders([finding]).join("\n");
  if (check === "orphan-page") return listOrder(path);
  if (isFixable && (check === "broken-link" || check === "broken-anchor")) return `Fix broken links in ${path}.`;
  if (isRules || severity === "info" || check.endsWith("-claim")) return null;
  return `Fix this on ${path}, line ${line}, and change nothing else: ${message}`;
}

/** The same prompt is being worked on, or waits in an open pull request: by it, the newest job and its pull request. */
async function findUnderWay(
  db: Queryable,
  projectId: string,
  fixes: readonly DashboardSuggestion[],
): Promise<ReadonlyMap<string, NonNullable<DashboardSuggestion["underWay"]>>> {
  const { rows } = await db.query<{ prompt: string; jobId: string; number: number | null }>(
    `select prompt, id as "jobId", (pull_request ->> 'number')::int as number from jobs
     where project_id = $1 and prompt = any ($2)
       and (status = 'active' or (pull_request ->> 'state' = 'open' and status <> 'archived'))
     order by id`,
    [projectId, fixes.map(({ prompt }) => prompt)],
  );
  return new Map(rows.map(({ prompt, jobId, number }) => [prompt, { jobId, number }]));
}

function fixLinks(latest: SiteCheck, isRules: boolean): DashboardSuggestion[] {
  const kinds = ["broken-link", "broken-anchor"];
  const count = countOf(latest, kinds);
  if (count === 0) return [];
  const fixable = latest.counts.reduce((sum, each) => sum + (kinds.includes(each.check) ? each.fixable : 0), 0);
  const links = count === 1 ? "1 link leads nowhere" : `${count} links lead nowhere`;
  const because = `${links}, ${fixable === 0 ? "none" : fixable} with a certain fix`;
  return [{ prompt: "Fix broken links.", because, ...(isRules && fixable === 0 && { isVain: true as const }) }];
}

function followRenames(findings: readonly SiteFinding[]): DashboardSuggestion[] {
  const orders = renameOrders(findings);
  if (orders.length === 0) return [];
  const names = new Set(findings.flatMap(({ renamed }) => renamed?.from ?? [])).size;
  const because = `the code renamed ${names} ${names === 1 ? "name" : "names"} that pages use`;
  return [{ prompt: orders.join("\n"), because }];
}

function listOrphans(findings: readonly SiteFinding[], count: number): DashboardSuggestion[] {
  const pages = findings.filter(({ check }) => check === "orphan-page").slice(0, orphansMax);
  if (pages.length === 0) return [];
  const orders = pages.map(({ path }) => listOrder(path));
  return [{ prompt: orders.join("\n"), because: `${count} ${count === 1 ? "page is" : "pages are"} in no navigation` }];
}

function listOrder(path: string): string {
  return `Add ${path.replace(/\.mdx?$/, "")} to the navigation.`;
}

/** For a language model: the findings themselves are the instruction. */
function mendTheRest(findings: readonly SiteFinding[]): DashboardSuggestion[] {
  // A page with claims has its own job, which gets the texts.
  const own = new Set(["broken-link", "broken-anchor", "orphan-page", "changed-claim", "gone-claim"]);
  const rest = findings.filter(({ check, severity, renamed }) => !own.has(check) && !renamed && severity !== "info");
  if (rest.length === 0) return [];
  const lines = rest.slice(0, findingsMax).map(({ path, line, message }) => `- ${path}:${line}: ${message}`);
  const prompt = `Fix what the checks found, and change nothing else:\n\n${lines.join("\n")}`;
  return [{ prompt, because: `${rest.length} further ${rest.length === 1 ? "finding" : "findings"}` }];
}

function countOf(latest: SiteCheck, checks: readonly string[]): number {
  return latest.counts.reduce((sum, each) => sum + (checks.includes(each.check) ? each.count : 0), 0);
}
