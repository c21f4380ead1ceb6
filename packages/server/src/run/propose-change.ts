import { type AgentOutcome, type FollowUp, latestRound, type Step, type Usage, unansweredIn } from "@emend/agent";
import type { Evidence } from "@emend/base/evidence.ts";
import { assertNever } from "@emend/base/fault.ts";
import type { TotalUsage } from "@emend/publish";
import { truthChecks, type Verdict } from "@emend/review";
import type { LeasedJob, StoredSource } from "../jobs/run/leased-job.ts";
import type { RecordedMove } from "../jobs/run/record-change.ts";
import { toRecordedChange } from "./recorder.ts";
import type { OpenTree, Outcome, PassableVerdict, ReviewedChange, RunDeps, Words } from "./run.ts";
import { followChanges } from "./step-changes.ts";

export interface ReviewedProposal {
  kind: "reviewed";
  change: ReviewedChange;
  model: string;
  usage: TotalUsage;
}

type Proposal = ReviewedProposal | Extract<Outcome, { kind: "unchanged" | "denied" | "asked" }>;

/** Runs the agent and the review in turns. The result is stored before anything is built from it. */
export async function proposeChange(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  said: { steps: readonly Step[]; followUps: readonly FollowUp[] },
  signal: AbortSignal,
): Promise<Proposal> {
  const { recorder, stages, crashPoint } = deps;
  const steps = [...said.steps];
  const changesOf = followChanges(tree, deps.log);
  let isChecking = false;

  async function saveStep(...[step, edits]: Parameters<typeof recorder.saveStep>): Promise<void> {
    // The agent got findings back and is working again.
    if (isChecking) await recorder.setPhase("working");
    isChecking = false;
    await recorder.saveStep(step, edits, await changesOf(edits, signal));
    steps.push(step);
  }

  async function review(words: Words & { evidence?: Evidence }): Promise<Verdict> {
    isChecking = true;
    await recorder.setPhase("checking");
    crashPoint("before-review");
    const verdict = await stages.review(job, tree, { ...words, contextText: readFromContext(steps) }, signal);
    crashPoint("after-review");
    return verdict;
  }

  if (job.base !== null) await recorder.setPhase("working");
  const { saveContext, interjections } = recorder;
  const work = { ...tree, ...said, saveStep, saveContext, interjections, review };
  const { outcome, verdict, sources: cited = [] } = await stages.runAgent(job, work, signal);
  if (outcome.kind === "asked") {
    const { summary: question, options, step } = outcome;
    return { kind: "asked", question, options, step };
  }
  const limitReached = outcome.kind === "stopped" ? outcome.code : null;
  const unanswered = unansweredIn({ ...job, ...said }, steps);
  for (const question of unanswered) await recorder.saveNotice(guessWords(question));
  if (outcome.kind === "unchanged" || verdict === null) {
    const refused = refusedIn(latestRound({ ...job, ...said }, steps));
    const summary = refused === null ? outcome.summary : `Emend refused this change: ${refused}\n\n${outcome.summary}`;
    return { kind: "unchanged", summary, limitReached, refused };
  }
  const words = wordsOf(outcome, job);
  const sources = withoutDuplicates([...job.sources, ...cited, ...askedOfServices(steps)]);
  const ended = await storeChange(deps, job, tree, { ...words, verdict, limitReached, sources }, signal);
  if (ended) return ended;
  const model = steps.findLast(({ usage }) => usage.by === undefined)?.usage.model ?? job.answeredBy;
  // A denied change has ended.
  const change = { ...words, verdict: verdict as PassableVerdict, limitReached, sources, unanswered };
  return { kind: "reviewed", change, model, usage: totalUsage(steps) };
}

/** Policy decides once more about a change that a person wants published: the project's settings may have changed since. */
export async function reviewFinished(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  proposal: ReviewedProposal,
  signal: AbortSignal,
): Promise<Proposal> {
  const { recorder, stages, crashPoint } = deps;
  await recorder.setPhase("checking");
  crashPoint("before-review");
  const now = await stages.review(job, tree, proposal.change, signal);
  crashPoint("after-review");
  const verdict = keepTruths(now, proposal.change.verdict);
  const change = { ...proposal.change, verdict: verdict as PassableVerdict };
  // A denied change has ended.
  return (await storeChange(deps, job, tree, { ...change, verdict }, signal)) ?? { ...proposal, change };
}

/** Stores a reviewed change before anything is built from it. Null: it may be published. */
async function storeChange(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  judged: Omit<ReviewedChange, "verdict" | "unanswered"> & { verdict: Verdict },
  signal: AbortSignal,
): Promise<Extract<Outcome, { kind: "unchanged" | "denied" }> | null> {
  const { recorder, stages, crashPoint } = deps;
  const { verdict, limitReached } = judged;
  const recorded = await toRecordedChange(stages, job, tree, judged, signal);
  crashPoint("before-change-stored");
  await recorder.saveChange(recorded);
  crashPoint("after-change-stored");
  if (verdict.kind === "denied") return { kind: "denied", violations: verdict.violations, limitReached };
  const refused = job.pullRequest === null ? await stages.findRefused?.(job, recorded.diff) : null;
  if (refused) {
    const why = `The same change was proposed in ${refused} and closed unmerged. Emend does not propose it again.`;
    return { kind: "unchanged", summary: why, limitReached };
  }
  const touching = job.pullRequest === null ? await stages.findTouching?.(job, recorded.diff, signal) : null;
  if (touching) {
    const why = `Pull request ${touching.url} already changes ${touching.path}. Emend does not open a second one.`;
    return { kind: "unchanged", summary: why, limitReached };
  }
  return null;
}

const refusedEdit = /^nothing was edited: (.+)/s;

/** Why Emend took back the agent's last edit in these steps, if it did. */
function refusedIn(steps: readonly Step[]): string | null {
  const messages = steps.flatMap((step) => step.messages);
  const last = messages.findLast((one) => one.role === "tool" && one.isError && refusedEdit.test(one.output));
  return last?.role === "tool" ? (refusedEdit.exec(last.output)?.[1] ?? null) : null;
}

/** For people, where a question got no answer. */
export function guessWords(question: string): string {
  return `The agent's question got no answer in time, so it continued with its best guess: ${question}`;
}

function wordsOf(outcome: Exclude<AgentOutcome, { kind: "unchanged" | "asked" }>, job: LeasedJob): Words {
  const { summary } = outcome;
  const { pullTitle, reply } = outcome.kind === "finished" ? outcome : {};
  // If no pull request was opened before, this round's title becomes the pull request's title.
  if (!job.continuesBranch) return { title: pullTitle ?? outcome.title, summary };
  const words = { title: outcome.title, summary, ...(pullTitle !== undefined && { pullTitle }) };
  return reply === undefined ? words : { ...words, reply };
}

/** The tools of knowledge servers: `<server>__<tool>`. */
const knowledgeTool = /^([a-z][a-z0-9-]{0,19})__([A-Za-z0-9_-]{1,40})$/;
const argumentCharactersMax = 80;

/** What knowledge servers answered, each with its day instead of a commit. */
function askedOfServices(steps: readonly Step[]): readonly StoredSource[] {
  const messages = steps.flatMap((step) => step.messages);
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  return messages.flatMap((message) => {
    if (message.role !== "tool" || message.isError) return [];
    const [, server, tool] = knowledgeTool.exec(message.name) ?? [];
    if (server === undefined) return [];
    const input = calls.find(({ id }) => id === message.callId)?.input ?? {};
    const words = Object.values(input).map(String).join(", ").slice(0, argumentCharactersMax);
    const commit = /^From \S+ \(\S+, (\d{4}-\d\d-\d\d)\)/.exec(message.output)?.[1] ?? "";
    const path = words === "" ? `${tool}` : `${tool} (${words})`;
    return [{ repository: server, repositoryUrl: server, forge: "knowledge", path, line: 1, commit }];
  });
}

/** Tool results from context repositories, whose paths start with `@`, and from knowledge servers. */
function readFromContext(steps: readonly Step[]): readonly string[] {
  const messages = steps.flatMap((step) => step.messages);
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  const asked = new Set(
    calls
      .filter(({ name, input }) => knowledgeTool.test(name) || /"@\w/.test(JSON.stringify(input) ?? ""))
      .map(({ id }) => id),
  );
  return messages.flatMap((message) => (message.role === "tool" && asked.has(message.callId) ? [message.output] : []));
}

/** A later round cites the same place at a later commit. */
function withoutDuplicates(sources: readonly StoredSource[]): readonly StoredSource[] {
  const keyOf = ({ repositoryUrl, path, line, supports }: StoredSource) =>
    JSON.stringify([repositoryUrl, path, line, supports]);
  return [...new Map(sources.map((source) => [keyOf(source), source])).values()];
}

/** What the change says was judged with all that the agent had read. A moved base makes none of it true. */
function keepTruths(verdict: Verdict, before: ReviewedChange["verdict"]): Verdict {
  const kept = before.introduced.filter(({ check }) => truthChecks.has(check));
  if (verdict.kind === "denied" || kept.length === 0) return verdict;
  const kind = kept.some(({ severity }) => severity === "error") ? "flagged" : verdict.kind;
  return { ...verdict, kind, introduced: [...kept, ...verdict.introduced] };
}

/** The usage of all steps of a job, across runs and rounds. */
export function totalUsage(steps: readonly Step[]): TotalUsage {
  const sum = (of: (usage: Usage) => number) => steps.reduce((total, { usage }) => total + of(usage), 0);
  return {
    steps: steps.length,
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    cachedInputTokens: sum((usage) => usage.cachedInputTokens),
    costUsd: sum((usage) => usage.costUsd),
  };
}

/** The edited files that differ between two bases. Where none does, the diff is the same on both. */
async function changedBelow(before: OpenTree, now: OpenTree): Promise<readonly string[]> {
  const idsOf = async ({ base }: OpenTree) =>
    new Map((await base.list()).map(({ path, oid, mode }) => [path, `${oid} ${mode}`]));
  const [old, current] = [await idsOf(before), await idsOf(now)];
  const paths = before.overlay.entries().map(({ path }) => path);
  return paths.filter((path) => old.get(path) !== current.get(path));
}

/** A change, and the base that it will be published on. */
export interface ChangeOnBase {
  kind: "change";
  tree: OpenTree;
  change: ReviewedChange;
  /** Stored with the commit. Null if the base did not move. */
  move: RecordedMove | null;
  baseConflict: readonly string[];
}

/**
 * The base branch may have moved on while the agent worked. If its changes merge with the job's, the job continues on
 * the new base and is reviewed again there. Otherwise it stays on its own base, and the pull request says so.
 */
export async function proposeOnMovedBase(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  change: ReviewedChange,
  signal: AbortSignal,
): Promise<ChangeOnBase | Extract<Outcome, { kind: "unchanged" | "denied" | "outdated" }>> {
  const { stages, recorder, crashPoint } = deps;
  const baseConflict = job.change === null ? [] : job.baseConflict;
  const asItIs = { kind: "change", tree, change, move: null, baseConflict } as const;
  // A stored commit is published unchanged.
  if (job.change !== null) return asItIs;

  crashPoint("before-base-taken-in");
  const moved = await stages.openOnMovedBase(job, tree, change, signal);
  crashPoint("after-base-taken-in");
  const branch = tree.baseBranch;
  if (job.publishesPreview && moved.kind !== "unmoved") {
    const paths = moved.kind === "conflict" ? moved.paths : await changedBelow(tree, moved.tree);
    if (paths.length > 0) return { kind: "outdated", branch, paths };
  }
  switch (moved.kind) {
    case "unmoved":
      return asItIs;
    case "conflict": {
      const { commit, paths } = moved;
      return { ...asItIs, move: { kind: "conflict", base: { commit, branch }, paths }, baseConflict: paths };
    }
    case "merged":
      break;
    default:
      return assertNever(moved);
  }
  const { limitReached } = change;
  const edits = moved.tree.overlay.entries();
  if (edits.length === 0) {
    return {
      kind: "unchanged",
      summary: `${branch} already contains these changes, so there is nothing to publish.`,
      limitReached,
    };
  }
  const verdict = keepTruths(await stages.review(job, moved.tree, change, signal), change.verdict);
  const judged = { ...change, verdict };
  const recorded = await toRecordedChange(stages, job, moved.tree, judged, signal);
  if (verdict.kind === "denied") {
    await recorder.saveChange(recorded);
    return { kind: "denied", violations: verdict.violations, limitReached };
  }
  const base = { commit: moved.tree.base.commit, branch };
  return {
    kind: "change",
    tree: moved.tree,
    change: { ...change, verdict },
    move: { kind: "merged", base, edits, change: recorded },
    baseConflict: [],
  };
}
