import { createHash } from "node:crypto";
import type { Finding } from "@emend/site";
import type { AgentDeps, AgentOutcome, AgentTask, Message, Step } from "./agent.ts";
import { runAgent } from "./loop.ts";
import { latestPrompt, latestRound } from "./outcome.ts";
import { reviewOpening, selfReviewOpening } from "./system-prompt.ts";

const roundsMax = 2;

type DisputedFinding = Finding & { dispute?: string };

/** The review's result for the agent. */
type ReviewAnswer =
  | { kind: "passed" | "flagged"; introduced: readonly DisputedFinding[] }
  | { kind: "denied"; violations: readonly { path: string; rule: string }[] };

interface Words {
  title: string;
  pullTitle?: string;
  summary: string;
  reply?: string;
}

/** Changes above this size get a self-review. */
const linesWrittenMax = 60;
const filesWrittenMax = 6;

interface ReviewedAgentDeps<Verdict extends ReviewAnswer> extends AgentDeps {
  /** `words`: the pull request's texts. */
  review(words: Words, signal: AbortSignal): Promise<Verdict>;
  /** The model reviews its own change if it is large, deletes files or has findings. */
  selfReview?: boolean;
}

/**
 * Runs the agent, reviews its change and sends the findings back, at most twice. Then the agent reviews its own diff
 * once. Both are counted in the stored steps, so a run on another node neither repeats nor adds one. No verdict if
 * nothing changed.
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
    // A plain finish confirms what was just reviewed, so the result is reused.
    const of = changeKey(task, words);
    if (reviewed?.of !== of) reviewed = { of, verdict: await deps.review(words, signal) };
    const verdict = disputed(reviewed.verdict, outcome);
    if (deps.model.nature === "rules" || outcome.kind === "stopped") return { outcome, verdict };
    opening = await nextOpening(deps, { ...task, steps }, { verdict, words }, signal);
    if (!opening) return { outcome, verdict };
  }
}

/** The next message to the agent about its finished change, or undefined. */
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
  // A runner has reviewed its own work, and a second look would cost as much as the first.
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

/** A finding that the agent disputes stays, with the reason. A person decides, so the pull request is a draft. */
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

/**
 * A follow-up is checked against the current base branch. Findings in pages that only the base has are not the agent's
 * to fix.
 */
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

/** Reported in the outcome, because the author cannot know otherwise that parts of the prompt were withheld. */
function tellRedacted(outcome: AgentOutcome, task: Pick<AgentTask, "prompt" | "followUps">): AgentOutcome {
  const marks = new Set(latestPrompt(task).match(/\[redacted: [\w-]{1,60}\]/g));
  if (marks.size === 0) return outcome;
  const shown = [...marks].slice(0, kindsToldMax).map((mark) => `\`${mark}\``);
  const notice = `Where the request says ${shown.join(", ")}, a credential stood. It was taken out before anything was stored, so the agent was not told it. To have one removed from pages, ask by the page or by how the credential begins, and revoke it.`;
  return { ...outcome, summary: `${outcome.summary}\n\n${notice}` };
}
