import { redactSecrets } from "@emend/base/secrets/secrets-in.ts";
import { type Builds, builtEdit, builtPage, type PagePicture, type TakenScreenshot } from "@emend/build";
import { type Construct, hostsIn, isAllowed, type Verdict } from "@emend/review";
import { type Finding, matchesGlob, type ParseCache, type Severity } from "@emend/site";
import type { OverlayEntry, Tree } from "@emend/tree";
import type { LeasedJob } from "../jobs/run/leased-job.ts";
import { cleanPicture } from "../jobs/uploads/clean-picture.ts";
import { askedOf, type RunProject } from "./run.ts";

export interface BuildChangeDeps {
  /** Absent: nothing is built. */
  builds?: Pick<Builds, "judge" | "takePictures" | "takeScreenshots">;
  siteCache: ParseCache;
  knownSecrets(projectId: string): Promise<readonly string[]>;
}

export interface BuiltChange {
  base: Tree;
  head: Tree;
  entries: readonly OverlayEntry[];
  /** Files that people changed on the job's branch. */
  byPeople: readonly string[];
  /** What waits for approval. */
  unknown?: readonly { path: string; kind: string }[];
}

/** Kinds that a builder only copies to a page. It may run any other. */
const copied: ReadonlySet<string> = new Set(["element", "attribute", "domain", "invisible characters"]);

/** What the site's builder says about a change, and what a browser finds on its pages. Empty if nothing is built. */
export async function buildChange(
  deps: BuildChangeDeps,
  project: RunProject,
  job: Pick<LeasedJob, "baseRef" | "prompt" | "followUps" | "interjections">,
  change: BuiltChange,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { build: settings } = project.settings;
  if (!settings.on || !deps.builds) return [];
  const why = whyNotBuilt(project, job, change);
  if (why !== null) {
    const message = `the site was not built: ${why}`;
    return [{ check: "build", severity: "info", path: "the site", line: 1, column: 1, message }];
  }
  const { base, head, entries } = change;
  const asked = new Set(askedOf(job).flatMap((text) => [...hostsIn(text)]));
  const patterns = (project.settings.policy.externalHosts ?? []).map((one) => one.toLowerCase());
  const found = await deps.builds.judge(
    {
      ...{ base, head, docsDir: project.docsDir, settings, siteCache: deps.siteCache },
      paths: entries.map(({ path }) => path),
      isAllowedHost: (host) => asked.has(host) || patterns.some((one) => one === "*" || matchesGlob(one, host)),
    },
    signal,
  );
  // A builder may quote a page that held a credential.
  const known = await deps.knownSecrets(project.id);
  return Promise.all(
    found.map(async (finding) => ({ ...finding, message: await redactSecrets(finding.message, known) })),
  );
}

/** Pages of a job that are pictured. More would cost more than anybody looks at. */
const picturedMax = 6;

/** Pages as readers see them: those that the change has, or these. Null: this change is not built. */
export async function picturesOf(
  deps: BuildChangeDeps,
  project: RunProject,
  job: Pick<LeasedJob, "baseRef">,
  change: BuiltChange,
  signal: AbortSignal,
  paths: readonly string[] = change.entries.map(({ path }) => path),
): Promise<readonly PagePicture[] | null> {
  const { build: settings } = project.settings;
  if (!deps.builds || whyNotBuilt(project, job, change) !== null) return null;
  const { docsDir } = project;
  const task = { base: change.base, head: change.head, docsDir, settings, siteCache: deps.siteCache };
  return deps.builds.takePictures({ ...task, paths, pagesMax: picturedMax }, signal);
}

/** The declared screenshots, taken again with the change. `string`: why none was taken. */
export async function screenshotsOf(
  deps: BuildChangeDeps,
  project: RunProject,
  job: Pick<LeasedJob, "baseRef">,
  change: BuiltChange,
  signal: AbortSignal,
): Promise<readonly TakenScreenshot[] | string> {
  if (!deps.builds) return "this server builds nothing";
  const why = whyNotBuilt(project, job, change);
  if (why !== null) return why;
  const { base, head } = change;
  const { docsDir, settings } = project;
  const task = { base, head, docsDir, settings: settings.build, siteCache: deps.siteCache };
  const taken = await deps.builds.takeScreenshots(task, signal);
  if (typeof taken === "string") return taken;
  return taken.map((one) => {
    if (one.kind !== "renewed") return one;
    // What the project serves ran beside the program that wrote it.
    const picture = cleanPicture(one.bytes);
    return picture !== null && picture !== "too large"
      ? { ...one, bytes: picture.bytes }
      : { file: one.file, kind: "failed", words: "what was taken is no picture" };
  });
}

/** A build runs only code that the project's base branch has. */
function whyNotBuilt(
  { baseRef, settings: { policy } }: RunProject,
  job: Pick<LeasedJob, "baseRef">,
  { entries, byPeople, unknown = [] }: BuiltChange,
): string | null {
  if (job.baseRef !== null && job.baseRef !== baseRef)
    return `the job starts from ${job.baseRef}, not from the project's base branch`;
  if (byPeople.length > 0) return "people have changed files on its branch, and only code of the base branch is run";
  const run = unknown.find(({ kind }) => !copied.has(kind));
  if (run) return `a builder may run what waits for approval (${run.kind} in ${run.path})`;
  const own = entries.find(({ path }) => isAllowed(policy, path));
  return own ? `policy.allowedPaths lets the change add code to ${own.path}` : null;
}

const rank: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/**
 * A change that the builder refuses is a draft. What it would do in a reader's browser is a question, and a page that shows
 * more than documentation is not published at all.
 */
export function withBuilt(verdict: Verdict, found: readonly Finding[], allowed: readonly string[] = []): Verdict {
  const isEdit = ({ check }: Finding) => check === builtEdit;
  const asked = found.filter(isEdit).map(({ path, line, message }): Construct => {
    const reason = "A browser saw this on the built page.";
    return { path, line, text: message.slice(0, 500), kind: "other", reason, key: `built ${message}` };
  });
  const built = found.filter((one) => !isEdit(one));
  if (verdict.kind === "denied" || found.length === 0) return verdict;
  const constructs = [...verdict.constructs, ...asked.filter(({ key }) => !allowed.includes(key ?? ""))];
  const violations = built.flatMap(({ check, path, message }) =>
    check === builtPage ? [{ path, rule: message }] : [],
  );
  if (violations.length > 0) return { kind: "denied", violations };
  const isRefused = built.some(({ severity }) => severity === "error");
  const introduced = [...verdict.introduced, ...built].sort((a, b) => rank[a.severity] - rank[b.severity]);
  return { ...verdict, kind: isRefused ? "flagged" : verdict.kind, introduced, constructs };
}
