import { setTimeout as wait } from "node:timers/promises";
import type { Fetch } from "@emend/base/network.ts";
import { createPatchReader } from "@emend/contract";
import type { Forge } from "@emend/forges";
import {
  applySettings,
  checkSite,
  checkTruth,
  claimChecks,
  externalLinkCheck,
  externalLinks,
  type Finding,
  openSite,
  type ParseCache,
  readCheckSettings,
  type Site,
  type SourceIndex,
  silenceFindings,
  staleReferenceCheck,
  truthChecks,
} from "@emend/site";
import { type Mirror, type Remote, type SiteHistory, siteTreeOf } from "@emend/tree";
import { listContextRepositories } from "../accounts/projects/context-repositories.ts";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import { listClaimFindings } from "../claims/claim-store.ts";
import { type ComparedSource, compareSource, listStaleReferences } from "../claims/compare-references-of-code.ts";
import { type AskLimit, openAsker, type Reader } from "../claims/drift/reader.ts";
import { type SourceDeps, type SourceName, withSource } from "../claims/source-at.ts";
import type { Pool } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { checkExternalLinks } from "../health/external-links.ts";
import {
  type ComparedWith,
  lastCheckedCommit,
  type NewSiteCheck,
  storeSiteCheck,
  storeSiteProblem,
} from "../health/site-checks.ts";

export interface SiteHealthDeps extends SourceDeps {
  pool: Pool;
  siteCache: ParseCache;
  /** Indexes of sources that outlive a check, by mirror. */
  indexes: Map<string, SourceIndex>;
  siteHistory: SiteHistory;
  /** Reaches only public addresses (SSRF guard), because docs name the links. */
  linkFetch: Fetch;
  openForge(project: Project): Promise<Forge>;
  contextRemote(repositoryId: string, signal: AbortSignal): Promise<Remote>;
  /** A model that reads changes of code and the docs. Null: the project has none. */
  openReader(project: Project): Promise<Reader | null>;
}

/** Checks the whole site of a project's base branch and stores the findings. It needs a mirror, so a worker does it. */
export async function checkSiteHealth(deps: SiteHealthDeps, projectId: string, signal: AbortSignal): Promise<void> {
  const project = await getProject(deps.pool, projectId);
  if (!project) return;
  try {
    await storeSiteCheck(deps.pool, projectId, await look(deps, project, signal));
  } catch (error) {
    // Errors that fail a job also fail this, with the same message.
    if (!isAppError(error)) throw error;
    await storeSiteProblem(deps.pool, projectId, error.publicMessage);
  }
}

async function look(deps: SiteHealthDeps, project: Project, signal: AbortSignal): Promise<NewSiteCheck> {
  const mirror = await deps.mirrors.open(project.id);
  const remote = await (await deps.openForge(project)).gitRemote(signal);
  // Pinned as if for a job, so that nothing is collected while it is read.
  const jobId = `health_${project.id}`;
  try {
    const { commit, ref } = await mirror.fetchBase({ remote, jobId, baseRef: project.baseRef }, signal);
    const history = () => deps.siteHistory({ remote, branch: ref }, signal);
    const site = await openSite(siteTreeOf(mirror.treeAt(commit), history), {
      docsDir: project.docsDir,
      ignore: project.settings.checks.ignore,
      cache: deps.siteCache,
      signal,
    });
    const settings = await readCheckSettings(site);
    const findings: Finding[] = [...(await checkSite(site, { signal }))];
    if ((settings.levels.get(externalLinkCheck) ?? "off") !== "off") {
      const asking = { db: deps.pool, fetch: deps.linkFetch, now: () => new Date(), pause };
      const dead = await checkExternalLinks(asking, project.id, await externalLinks(site, signal), signal);
      const found = dead.map((link) => ({
        check: externalLinkCheck,
        severity: "warning" as const,
        column: 1,
        ...link,
      }));
      const ran = new Set([externalLinkCheck]);
      findings.push(...silenceFindings(site, applySettings(found, settings), { settings, ran }));
    }
    const own = { id: project.id, name: null, baseRef: project.baseRef };
    const renames = () => renamedSince(deps.pool, { projectId: project.id, mirror, remote, jobId, commit }, signal);
    const compared = await compareWithSources(deps, project, { site, own, remote, renames }, signal);
    const { ran: whole, ranOnServer } = compared;
    const unsilenced = silenceFindings(site, applySettings(compared.findings, settings), {
      settings,
      ran: whole,
      ranOnServer,
    });
    findings.push(...unsilenced);
    const claims = (await listClaimFindings(deps.pool, project.id)).map((claim) => ({ ...claim, column: 1 }));
    const ran = new Set<string>(claimChecks);
    findings.push(...silenceFindings(site, applySettings(claims, settings), { settings, ran }));
    const { sources } = compared;
    return { commit, branch: ref, framework: site.framework, pages: site.pages.length, sources, findings };
  } finally {
    await mirror.release(jobId);
  }
}

/** Old path → new path of the files that were renamed since the last check. Empty if its commit is gone. */
async function renamedSince(
  pool: Pool,
  at: { projectId: string; mirror: Mirror; remote: Remote; jobId: string; commit: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { mirror, remote, commit } = at;
  const last = await lastCheckedCommit(pool, at.projectId);
  if (last === null || last === commit) return new Map();
  const jobId = `${at.jobId}_earlier`;
  try {
    await mirror.ensureBase({ remote, jobId, commit: last }, signal);
    const { patch } = await mirror.diff({ from: last, to: commit }, signal);
    const reader = createPatchReader();
    reader.read(patch.toString("utf8"));
    return new Map(reader.end().flatMap(({ path, pathBefore }) => (pathBefore === null ? [] : [[pathBefore, path]])));
  } catch (error) {
    signal.throwIfAborted();
    if (!isAppError(error)) throw error;
    return new Map();
  } finally {
    await mirror.release(jobId);
  }
}

interface Docs {
  site: Site;
  own: SourceName;
  remote: Remote;
  renames(): Promise<ReadonlyMap<string, string>>;
}

interface Compared {
  findings: readonly Finding[];
  sources: readonly ComparedWith[];
  /** The checks that covered every page, and those that covered all that this server has found. */
  ran: ReadonlySet<string>;
  ranOnServer: ReadonlySet<string>;
}

/** References, samples and the API, compared with the project's context repositories and with code beside the docs folder. */
async function compareWithSources(
  deps: SiteHealthDeps,
  project: Project,
  { site, own, remote, renames }: Docs,
  signal: AbortSignal,
): Promise<Compared> {
  const folder = project.docsDir.replace(/^(?:\.?\/)+|\/+$/g, "");
  const hasOwnCode = folder !== "" && folder !== ".";
  const named = [
    ...(hasOwnCode ? [{ ...own, repositoryId: null, remote: async () => remote }] : []),
    ...(await listContextRepositories(deps.pool, project.id)).map(({ id, name, baseRef }) => ({
      ...{ id, name, baseRef, repositoryId: id },
      remote: () => deps.contextRemote(id, signal),
    })),
  ];
  const openAskerOf = async (subject: string, limit: AskLimit) => {
    const reader = await deps.openReader(project);
    return reader && openAsker(deps.pool, { projectId: project.id, subject }, reader, limit);
  };
  const compared: ComparedSource[] = [];
  const sources: ComparedWith[] = [];
  const unread: Pick<ComparedSource, "name" | "repositoryId">[] = [];
  for (const { repositoryId, ...name } of named) {
    const isOutside = (path: string) => repositoryId === null && path.startsWith(`${folder}/`);
    try {
      await withSource(deps, name, "compare", signal, async (at) => {
        const source = await compareSource(
          deps,
          project.id,
          { site, name, at: { ...at, repositoryId }, isOutside, openAsker: openAskerOf },
          signal,
        );
        compared.push(source);
        sources.push({ repository: name.name, commit: at.commit, problem: source.problem });
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!isAppError(error)) throw error;
      sources.push({ repository: name.name, commit: null, problem: error.publicMessage });
      unread.push({ name, repositoryId });
    }
  }
  const indexes = compared.map(({ after }) => after);
  const known = { site, sources: compared, unread, renames };
  const stale = await listStaleReferences(deps.pool, project.id, known, signal);
  const others = indexes.length === 0 ? [] : await checkTruth(site, { sources: [], indexes, signal });
  // A silencer of a reference that was stale before the first comparison is still needed.
  const isWhole = named.length > 0 && compared.length === named.length;
  const ranOnServer = new Set<string>(isWhole ? truthChecks : []);
  const ran = new Set([...ranOnServer].filter((check) => check !== staleReferenceCheck));
  return { findings: [...stale, ...others], sources, ran, ranOnServer };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal });
}
