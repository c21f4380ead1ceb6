import { createHash } from "node:crypto";
import type { Logger } from "@emend/base/logger.ts";
import type { ReliedOn } from "@emend/base/repair-prompt.ts";
import type { Forge, OpenPullRequest } from "@emend/forges";
import type { ParseCache } from "@emend/site";
import type { CommitTree, Remote } from "@emend/tree";
import type { ContextRepository } from "../accounts/projects/context-repositories.ts";
import type { Project } from "../accounts/projects/projects.ts";
import { type Asker, openAsker, type Reader } from "../claims/drift/reader.ts";
import { listBrokenClaims, markOfClaims } from "../claims/find-claims-again.ts";
import { type AppError, isAppError } from "../errors.ts";
import {
  type Compared,
  type DocsAt,
  type DocsState,
  docsFor,
  docsReader,
  folderOf,
  indexOthers,
  markOfSettings,
  type OtherDeps,
  type OtherSources,
  readCommits,
  type TreeDeps,
  withTrees,
} from "./compared-trees.ts";
import {
  findStatus,
  type GateFinding,
  type GateStatus,
  type GateSubject,
  type HeldStatus,
  holdStatus,
  listRefused,
  listResting,
  recordPoll,
  recordSentStatus,
  saveVerdict,
} from "./gate-store.ts";
import { type HearCommentsDeps, hearComments } from "./hear-comments.ts";
import { type GateLevel, judgeDocs, judgeSource, verdictOf } from "./judge-pull.ts";

/** What a gate needs from the server. */
export interface GateDeps extends HearCommentsDeps, TreeDeps, OtherDeps {
  log: Logger;
  siteCache: ParseCache;
  publicUrl(): string;
  findProject(id: string): Promise<Project | undefined>;
  /** Null: there is no token, so Emend cannot post there. */
  openContextForge(repository: ContextRepository): Promise<Forge | null>;
  /** A model that reads changes of code and the docs. Null: the project has none. */
  openReader(project: Project): Promise<Reader | null>;
}

/** A repository whose pull requests are checked. */
interface Watched extends GateSubject {
  level: Exclude<GateLevel, "off">;
  /** The name that people see. */
  label: string;
  /** The key of the mirror that has its commits. */
  mirrorId: string;
  open(): Promise<Forge | null>;
}

/** Increase it when the checks change: verdicts of older versions are computed again. */
const judgedBy = "6";
/** After this many refusals in a row, the forge would refuse the rest too. */
const refusalsMax = 3;

/**
 * Checks the open pull requests of a project's repositories and sets one status on each head. All state is read from the
 * forges, so calls are idempotent and may come in any order.
 */
export async function pollGate(deps: GateDeps, projectId: string, signal: AbortSignal): Promise<void> {
  const project = await deps.findProject(projectId);
  if (!project) return;
  const resting = await listResting(deps.pool, projectId);
  let away: AppError | null = null;
  for (const watched of watchedOf(deps, project, await deps.listContext(projectId))) {
    if (resting.has(watched.contextId ?? "")) continue;
    signal.throwIfAborted();
    let outcome = { problem: null as string | null, notBeforeMs: 0 };
    try {
      outcome = { ...outcome, problem: await pollRepository(deps, project, watched, signal) };
    } catch (error) {
      if (signal.aborted) throw error;
      if (!isAppError(error)) deps.log.warn({ err: error, projectId }, "could not look at pull requests");
      if (isAppError(error) && error.retryable) away = error;
      const words = isAppError(error) ? error.publicMessage : "The check failed: internal server error.";
      outcome = { problem: words, notBeforeMs: isAppError(error) ? (error.retryAfterMs ?? 0) : 0 };
    }
    await recordPoll(deps.pool, watched, outcome);
  }
  // What could not be sent is sent again when the forge is back, not at the next poll.
  if (away) throw away;
}

/** The local forge is always checked: it is free and needs no permission. */
function levelOf(set: GateLevel | null, forge: string): GateLevel {
  return set ?? (forge === "local" ? "neutral" : "off");
}

function watchedOf(deps: GateDeps, project: Project, context: readonly ContextRepository[]): readonly Watched[] {
  const { gate } = project.settings;
  const watched: Watched[] = [];
  const add = (level: GateLevel, more: Omit<Watched, "projectId" | "level">) => {
    // A repository that is both docs and source counts as docs.
    const isThere = watched.some(({ repository }) => repository === more.repository);
    if (level !== "off" && !isThere) watched.push({ projectId: project.id, level, ...more });
  };
  add(levelOf(gate.docs, project.forge), {
    contextId: null,
    name: gate.name,
    repository: keyOf(project),
    label: "the docs repository",
    mirrorId: project.id,
    open: () => deps.openForge(project),
  });
  for (const repository of context) {
    add(levelOf(gate.sources, repository.forge), {
      contextId: repository.id,
      // The repository may be the docs of another project, which has its own status name.
      name: `${gate.name}/docs`,
      repository: keyOf(repository),
      label: repository.name,
      mirrorId: repository.id,
      open: () => deps.openContextForge(repository),
    });
  }
  return watched;
}

/** The local forge's base URL depends on the installation, but the path does not. */
function keyOf({ forge, repositoryUrl }: { forge: string; repositoryUrl: string }): string {
  return forge === "local" ? `local ${repositoryUrl.split("/").at(-1)}` : `${forge} ${repositoryUrl.toLowerCase()}`;
}

/** The error message. Null: no error. */
async function pollRepository(
  deps: GateDeps,
  project: Project,
  watched: Watched,
  signal: AbortSignal,
): Promise<string | null> {
  const forge = await watched.open();
  if (!forge) return `Context repository ${watched.label} has no token, so Emend cannot set statuses on it. Add one.`;
  const remote = await forge.gitRemote(signal);
  const named = { projectId: project.id, repositoryId: watched.contextId };
  const claims = await markOfClaims(deps.pool, named);
  const docsAt = docsReader(deps, project, signal);
  const reader = await deps.openReader(project);
  let others: Promise<OtherSources> | undefined;
  const place: Place = {
    ...{ project, watched, forge, remote, claims, docsAt, reader },
    others: () => (others ??= indexOthers(deps, { project, watched, docsAt }, signal)),
  };
  const heads = [...Map.groupBy(await forge.listOpenPullRequests(signal), ({ headCommit }) => headCommit).values()];
  const refused = await listRefused(deps.pool, watched);
  // Heads that were refused before come last: they must not keep the others from their turn.
  const isRefused = ([one]: readonly OpenPullRequest[]) =>
    refused.some((head) => one && head.startsWith(one.headCommit));
  let first: string | null = null;
  let inARow = 0;
  for (const pulls of heads.toSorted((left, right) => Number(isRefused(left)) - Number(isRefused(right)))) {
    signal.throwIfAborted();
    const problem = await judgeHead(deps, place, pulls, signal);
    first ??= problem;
    inARow = problem === null ? 0 : inARow + 1;
    if (inARow >= refusalsMax) break;
  }
  return first;
}

interface Place {
  project: Project;
  watched: Watched;
  forge: Forge;
  remote: Remote;
  /** Changes with the claims on this repository. */
  claims: string;
  docsAt: DocsAt;
  reader: Reader | null;
  /** Read once, for all pull requests. */
  others(): Promise<OtherSources>;
}

/**
 * The forge's error message. Null: the forge shows the status. A commit has one status: if it is the head of several
 * pull requests, the status covers them all.
 */
async function judgeHead(
  deps: GateDeps,
  place: Place,
  pulls: readonly OpenPullRequest[],
  signal: AbortSignal,
): Promise<string | null> {
  const { watched, forge } = place;
  const sorted = pulls.toSorted((left, right) => left.number - right.number);
  const [pull] = sorted;
  if (!pull) return null;
  const known = await findStatus(deps.pool, watched, pull.headCommit);
  // If the docs cannot be read now, the status says so and stays pending.
  const bases = [...new Set(sorted.map(({ base }) => base))].sort();
  const docs = await docsFor(deps, place, { number: pull.number, bases }).catch((error: unknown) => {
    if (signal.aborted || !isAppError(error)) throw error;
    return error;
  });
  // The verdict on a docs change needs only its own commits, so an outage does not take it back.
  if (isAppError(docs) && watched.contextId === null && known && known.judgedFrom !== null) return docs.publicMessage;
  const from = isAppError(docs) ? null : await markOf(docs, place, bases);
  const isJudged = known !== null && from !== null && known.judgedFrom === from;
  const now = (status: GateStatus) => ({
    ...status,
    ...verdictNow(status, watched, isAppError(docs) ? null : docs),
  });
  if (known && isJudged && known.sent === statusText(now(known))) {
    const again = { id: known.id, head: known.head, verdict: now(known), pulls: sorted };
    const hidden = forge.movesStatuses
      ? await setStatus(deps, place, again, signal).catch((error: unknown) => {
          if (signal.aborted || !isAppError(error) || error.retryable) throw error;
          return error;
        })
      : known.refusal;
    if (isAppError(hidden)) return hidden.publicMessage;
    if (hidden === known.refusal) {
      await hearComments(deps, place, known, signal);
      return null;
    }
  }
  const commits = await readCommits(forge, sorted, signal);
  const held = await holdStatus(deps.pool, watched, commits?.[0].head ?? known?.head ?? pull.headCommit, pull);
  if (!held) return taken(watched);
  const verdict = isJudged ? now(held) : await judge(deps, place, held, { commits, docs, from }, signal);
  // Another node holds the lease by now.
  if (!(await saveVerdict(deps.pool, held, verdict))) return null;
  // Where the forge has no such commit, there is nothing to set a status on.
  if (!commits && isUnreadableFork(forge, pull)) return null;
  const refusal = await send(deps, place, held, { verdict, pulls: sorted }, signal);
  await hearComments(deps, place, { ...held, ...verdict }, signal);
  return refusal;
}

function isUnreadableFork({ forkLimit }: Forge, { isFork }: Pick<OpenPullRequest, "isFork">): boolean {
  return isFork && forkLimit !== undefined;
}

function verdictNow({ findings }: GateStatus, { level, contextId }: Watched, docs: DocsState | null) {
  const verdict = verdictOf(findings, level, { isDocs: contextId === null, docsPull: docs?.pull ?? null });
  if (!docs?.hasFailed || verdict.state === "passed") return verdict;
  return { ...verdict, words: `${verdict.words} The job that fixes the docs failed.` };
}

/** Equal as long as the same commit gets the same verdict. */
async function markOf(docs: DocsState, { claims, project, reader }: Place, bases: readonly string[]): Promise<string> {
  const { trees } = docs;
  const commits = new Set(trees ? [trees.docs.commit, trees.base.commit] : []);
  const { ignore } = project.settings.checks;
  const silenced = ignore.length === 0 ? [] : [createHash("sha256").update(JSON.stringify(ignore)).digest("base64url")];
  const readBy = reader === null ? [] : [reader.model];
  return [judgedBy, ...commits, ...bases, await markOfSettings(docs), claims, ...silenced, ...readBy].join(" ");
}

/** What the forge shows, to know whether to send it again. */
function statusText({ state, words }: Pick<GateStatus, "state" | "words">): string {
  return `${state} ${words}`;
}

function taken({ name }: Watched): string {
  return `Another project already reports as "${name}" on this repository. Set another name for this project's status.`;
}

type Verdict = Pick<GateStatus, "state" | "words" | "findings" | "judgedFrom">;

/** If a pull request cannot be checked, its status says why and stays pending: it never passes by mistake. */
async function judge(
  deps: GateDeps,
  place: Place,
  held: HeldStatus,
  { commits, docs, from }: { commits: Compared | null; docs: DocsState | AppError; from: string | null },
  signal: AbortSignal,
): Promise<Verdict> {
  const waits = (words: string): Verdict => ({ state: "pending", words, findings: [], judgedFrom: null });
  if (!commits && isUnreadableFork(place.forge, held.pull)) return waits(`Not checked: ${place.forge.forkLimit}`);
  if (!commits) return waits("The forge does not name this pull request's commits, so Emend has not checked it.");
  try {
    if (isAppError(docs)) throw docs;
    const { remote, watched } = place;
    const { mirrorId } = watched;
    const found: GateFinding[] = [];
    const paidBy = { projectId: held.projectId, subject: `${watched.repository} #${held.number}` };
    const asker = place.reader && (await openAsker(deps.pool, paidBy, place.reader));
    for (const compared of commits) {
      const target = docs.targets.get(compared.branch);
      const trees = await withTrees(deps, { mirrorId, remote }, held.id, compared, signal, (before, after, patch) =>
        judgeTrees(deps, place, { before, after, docs: docs.trees, target, asker, patch }, signal),
      );
      found.push(...trees.map((one) => withCommit(one, compared)));
    }
    const findings = [
      ...new Map(found.map((one) => [`${one.check} ${one.path}:${one.line} ${one.message}`, one])).values(),
    ];
    const verdict = verdictNow({ ...held, findings }, place.watched, docs);
    // What could not be read now may be readable next time.
    const isSure = findings.every(({ unread }) => unread === undefined) && asker?.problem()?.isPassing !== true;
    return { ...verdict, findings, judgedFrom: isSure ? from : null };
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isAppError(error)) deps.log.warn({ err: error, gateId: held.id }, "could not judge a pull request");
    return waits(`Not checked: ${isAppError(error) ? error.publicMessage : "internal server error."}`);
  }
}

/** With the commit that has the shown line of code: of what is only new, the one after the change. */
function withCommit(finding: GateFinding, { base, head }: Compared[number]): GateFinding {
  const { claim, seen } = finding;
  const at = (place: ReliedOn) => ({ ...place, commit: place.was === "" ? head : base });
  return { ...finding, ...(claim && { claim: at(claim) }), ...(seen && { seen: at(seen) }) };
}

/** `docs`: null if the pull request changes the docs themselves. `target`: then the branch that it wants to change. */
async function judgeTrees(
  deps: GateDeps,
  place: Place,
  {
    before,
    after,
    docs,
    target = before,
    asker,
    patch,
  }: {
    before: CommitTree;
    after: CommitTree;
    docs: DocsState["trees"];
    target: CommitTree | undefined;
    asker: Asker | null;
    patch(): Promise<string>;
  },
  signal: AbortSignal,
): Promise<readonly GateFinding[]> {
  const { project, watched } = place;
  const { docsDir } = project;
  const { ignore } = project.settings.checks;
  const named = { projectId: project.id, repositoryId: watched.contextId };
  const claims = await listBrokenClaims(deps.pool, named, { before, after, docs: docs?.docs ?? after }, signal);
  const cache = deps.siteCache;
  const shared = {
    before,
    after,
    settings: docs?.base ?? target,
    claims,
    docsDir,
    ignore,
    cache,
    key: watched.mirrorId,
    indexes: deps.indexes,
    others: place.others,
    asker,
    patch,
  };
  if (docs !== null) {
    return judgeSource({ ...shared, docs: docs.docs, trusted: docs.base, outside: null }, signal);
  }
  // Code in the docs repository is a source too, if it is outside the docs folder.
  const own = { ...shared, docs: after, trusted: before, outside: folderOf(docsDir) };
  return [...(await judgeDocs(shared, signal)), ...(await judgeSource(own, signal))];
}

async function send(
  deps: GateDeps,
  place: Place,
  held: HeldStatus,
  { verdict, pulls }: { verdict: Verdict; pulls: readonly OpenPullRequest[] },
  signal: AbortSignal,
): Promise<string | null> {
  const { id, head } = held;
  try {
    const hidden = await setStatus(deps, place, { id, head, verdict, pulls }, signal);
    await recordSentStatus(deps.pool, held, { sent: statusText(verdict), refusal: hidden });
    return null;
  } catch (error) {
    if (signal.aborted || !isAppError(error)) throw error;
    await recordSentStatus(deps.pool, held, { sent: null, refusal: error.publicMessage });
    if (error.retryable) throw error;
    return error.publicMessage;
  }
}

/** Why the forge does not show it. Null: it does. */
function setStatus(
  deps: GateDeps,
  { watched, forge }: Place,
  {
    id,
    head,
    verdict,
    pulls,
  }: Pick<HeldStatus, "id" | "head"> & { verdict: Pick<Verdict, "state" | "words">; pulls: readonly OpenPullRequest[] },
  signal: AbortSignal,
): Promise<string | null> {
  const { state, words } = verdict;
  const url = `${deps.publicUrl()}/app/gates/${id}`;
  return forge.setStatus({ commit: head, pulls, name: watched.name, state, words, url }, signal);
}
