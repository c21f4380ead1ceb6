import { createHash } from "node:crypto";
import type { Finding } from "@emend/site";
import type { AgentDeps, AgentOutcome, AgentTask, Message, Step } from "./agent.ts";
import { latestPrompt, latestRound } from "./conversation.ts";
import { runAgent } from "./loop.ts";
import { reviewOpening, selfReviewOpening } from "./openings.ts";

const roundsMax = 2;

type DisputedFinding = Finding & { dispute?: string };

/** What a review says, as far as the agent is told. */
type ReviewAnswer =
  | { kind: "passed" | "flagged"; introduced: readonly DisputedFinding[] }
  | { kind: "denied"; violations: readonly { path: string; rule: string }[] };

interface Words {
  title: string;
  pullTitle?: string;
  summary: string;
  reply?: string;
}

/** From here on a change is worth a second look by who made it: beyond it lies more than a paragraph or two. */
const linesWrittenMax = 60;
const filesWrittenMax = 6;

interface ReviewedAgentDeps<Verdict extends ReviewAnswer> extends AgentDeps {
  /** `words`: what the pull request would say. */
  review(words: Words, signal: AbortSignal): Promise<Verdict>;
  /** The model looks once more at a change that is large, takes files away or has findings. */
  selfReview?: boolean;
}

/**
 * Runs the agent, reviews what it did and gives the findings back, two rounds at most; then lets it look at its own
 * diff, once. Both are counted in the stored steps, so a run on another node neither repeats nor adds one. Nothing
 * changed: no verdict.
 */
export async function runAgentWithReview<Verdict extends ReviewAnswer>(
  deps: ReviewedAgentDeps<Verdict>,
  task: AgentTask,
  signal: AbortSignal,
): Promise<{ outcome: AgentOutcome; verdict: Verdict | null }> {
  const steps = [...task.steps];
  const saveStep: AgentDeps["saveStep"] = async (step, edits) => {
    await deps.saveStep(step, edits);
    steps.push(step);
  };
  let opening: Message | undefined;
  let reviewed: { of: string; verdict: Verdict } | undefined;
  for (;;) {
    const asked = { ...task, steps: [...steps], ...(opening && { opening }) };
    const run = deps.model.run ?? runAgent;
    const outcome = tellRedacted(await run({ ...deps, saveStep }, asked, signal), task);
    if (outcome.kind === "unchanged" || task.overlay.entries().length === 0) return { outcome, verdict: null };
    const words = wordsOf(outcome);
    // A plain finish confirms what was judged a moment ago: a large page is not parsed for it again.
    const of = changeKey(task, words);
    if (reviewed?.of !== of) reviewed = { of, verdict: await deps.review(words, signal) };
    const verdict = disputed(reviewed.verdict, outcome);
    if (deps.model.nature === "rules" || outcome.kind === "stopped") return { outcome, verdict };
    opening = await nextOpening(deps, { ...task, steps }, { verdict, words }, signal);
    if (!opening) return { outcome, verdict };
  }
}

/** What is still to be said to the agent about its finished change; undefined: nothing. */
async function nextOpening<Verdict extends ReviewAnswer>(
  deps: ReviewedAgentDeps<Verdict>,
  task: AgentTask,
  reviewed: { verdict: Verdict; words: Words },
  signal: AbortSignal,
): Promise<Message | undefined> {
  const round = latestRound(task, task.steps);
  const findings = await withinReach(task, findingsOf(reviewed.verdict));
  const isLookedAt = timesSaid(round, "self-review") > 0;
  const open = findings.filter((finding) => finding.dispute === undefined);
  const mustRepair = open.some(({ severity }) => severity === "error");
  if (reviewed.verdict.kind !== "passed" && mustRepair && timesSaid(round, "review") < roundsMax) {
    return reviewOpening(open);
  }
  // A program of its own has looked at what it did, and a second look would cost as much as the first.
  if (!deps.selfReview || deps.model.run || isLookedAt || reviewed.verdict.kind === "denied") return undefined;
  const diff = (await task.overlay.diff(signal)).toString();
  if (!isWorthALook(task, diff, open)) return undefined;
  return selfReviewOpening(diff, open, deps.model.contextTokensMax);
}

function isWorthALook(task: AgentTask, diff: string, findings: readonly Finding[]): boolean {
  const entries = task.overlay.entries();
  const written = diff.match(/^[+-](?![+-]{2} )/gm)?.length ?? 0;
  const isTakingAway = entries.some(({ content }) => content === null) && !diff.includes("\nrename from ");
  return findings.length > 0 || isTakingAway || written > linesWrittenMax || entries.length > filesWrittenMax;
}

/** A finding that the agent holds to be wrong stays, with its reason beside it: a person decides, so it is a draft. */
function disputed<Verdict extends ReviewAnswer>(verdict: Verdict, outcome: AgentOutcome): Verdict {
  const disputes = outcome.kind === "finished" ? (outcome.disputes ?? []) : [];
  if (verdict.kind === "denied" || disputes.length === 0) return verdict;
  const introduced = verdict.introduced.map((finding) => {
    const dispute = disputes.flatMap((words) => {
      const [, path = "", line, why = ""] =
        /^`?([^\s:`]+)(?::(\d+))?(?::\d+)?`?\s*[:–-]?\s*([\s\S]*)$/.exec(words.trim()) ?? [];
      const isMeant = path === finding.path && (line === undefined || Number(line) === finding.line);
      return isMeant && why.trim() !== "" ? [why.trim()] : [];
    })[0];
    return dispute === undefined ? finding : { ...finding, dispute };
  });
  const isDisputed = introduced.some((finding) => finding.dispute !== undefined);
  return isDisputed ? { ...verdict, kind: "flagged", introduced } : verdict;
}

function changeKey({ overlay }: Pick<AgentTask, "overlay">, words: Words): string {
  const sum = createHash("sha256").update(JSON.stringify(words));
  for (const { path, mode, content } of overlay.entries()) {
    sum.update(`\0${path}\0${mode}\0${content?.byteLength ?? "gone"}\0`);
    if (content) sum.update(content);
  }
  return sum.digest("hex");
}

function wordsOf(outcome: Exclude<AgentOutcome, { kind: "unchanged" }>): Words {
  const { title, summary } = outcome;
  const { pullTitle, reply } = outcome.kind === "finished" ? outcome : {};
  return { title, summary, ...(pullTitle !== undefined && { pullTitle }), ...(reply !== undefined && { reply }) };
}

/** A follow-up is judged on the base branch as it is by now: a page that only that has is not the agent's to repair. */
async function withinReach(task: AgentTask, findings: readonly DisputedFinding[]): Promise<readonly DisputedFinding[]> {
  if (!task.followUps?.length) return findings;
  const [before, now] = [await task.base.list(), await task.overlay.list()];
  const known = new Set([...before, ...now].map(({ path }) => path));
  return findings.filter(({ path, check }) => check === "policy" || known.has(path) || !path.includes("."));
}

function timesSaid(steps: readonly Step[], from: "review" | "self-review"): number {
  return steps.filter((step) => step.messages.some((said) => said.role === "user" && said.from === from)).length;
}

function findingsOf(verdict: ReviewAnswer): readonly DisputedFinding[] {
  if (verdict.kind !== "denied") return verdict.introduced;
  return verdict.violations.map(({ path, rule }) => ({
    check: "policy",
    severity: "error",
    path: path || "the change",
    line: 1,
    column: 1,
    message: rule,
  }));
}

const kindsToldMax = 5;

/** Told with what came of it, because whoever asked cannot know otherwise that the agent was not given all they wrote. */
function tellRedacted(outcome: AgentOutcome, task: Pick<AgentTask, "prompt" | "followUps">): AgentOutcome {
  const marks = new Set(latestPrompt(task).match(/\[redacted: [\w-]{1,60}\]/g));
  if (marks.size === 0) return outcome;
  const shown = [...marks].slice(0, kindsToldMax).map((mark) => `\`${mark}\``);
  const notice = `Where the request says ${shown.join(", ")}, a credential stood. It was taken out before anything was stored, so the agent was not told it. To have one removed from pages, ask by the page or by how the credential begins, and revoke it.`;
  return { ...outcome, summary: `${outcome.summary}\n\n${notice}` };
}
