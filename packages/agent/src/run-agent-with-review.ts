import { createHash } from "node:crypto";
import type { Evidence } from "@emend/base/evidence.ts";
import { wholeChange } from "@emend/contract";
import type { Finding } from "@emend/site";
import type { AgentDeps, AgentOutcome, AgentTask, Message, Model, Step } from "./agent.ts";
import { evidenceOf } from "./evidence.ts";
import { runAgent } from "./loop.ts";
import { isPlanning, latestPrompt, latestRound } from "./outcome.ts";
import {
  askSecondReader,
  type FinishedChange,
  findingsOfReadings,
  readersStep,
  readingsIn,
  standingOf,
  unread,
  unreadIn,
} from "./second-reader.ts";
import { reviewOpening } from "./system-prompt.ts";

const roundsMax = 2;

type DisputedFinding = Finding & { dispute?: string };

/** The review's result for the agent. */
type ReviewAnswer =
  | {
      kind: "passed" | "flagged";
      introduced: readonly DisputedFinding[];
      /** What may be untrue, as far as code can tell. */
      candidates?: readonly Finding[];
    }
  | { kind: "denied"; violations: readonly { path: string; rule: string }[] };

interface Words {
  title: string;
  pullTitle?: string;
  summary: string;
  reply?: string;
}

interface ReviewedAgentDeps<Verdict extends ReviewAnswer> extends AgentDeps {
  /** `words`: the pull request's texts. */
  review(words: Words & { evidence?: Evidence }, signal: AbortSignal): Promise<Verdict>;
  /** Reads a finished change with fresh eyes. Absent: nobody does. */
  secondReader?: Model | null;
}

/**
 * Runs the agent, reviews its change and sends the findings back, at most twice. Then a second reader compares the finished
 * change with all that it rests on: its findings go back once, and it reads once more what changed after them. Without
 * one, the review's candidates are findings. All is in the stored steps, so a run on another node neither repeats nor
 * adds one. No verdict if nothing changed.
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
  const redact = async (text: string) => (await deps.vetting?.redact(text)) ?? text;
  let reader = deps.secondReader ?? null;
  let isAway = false;
  let ended: AgentOutcome | undefined;
  let opening: Message | undefined;
  let reviewed: { of: string; verdict: Verdict } | undefined;
  for (;;) {
    const asked = { ...task, steps: [...steps], ...(opening && { opening }) };
    const run = deps.model.run ?? runAgent;
    // A program that is done does not begin again because its change was read.
    const said = (!opening && ended) || (await run({ ...deps, saveStep }, asked, signal));
    if (deps.model.run) ended = said;
    const outcome = tellRedacted(tellUnchanged(deps.model, task, said), task);
    if (outcome.kind === "asked") return { outcome, verdict: null };
    if (outcome.kind === "unchanged" || task.overlay.entries().length === 0) return { outcome, verdict: null };
    const worked = { ...task, steps: [...steps] };
    const words = wordsOf(outcome);
    const evidence = await evidenceOf(deps, worked, outcome, signal);
    // A plain finish confirms what was just reviewed, so the result is reused.
    const of = changeKey(task, { ...words, cites: evidence?.sources });
    if (reviewed?.of !== of) {
      reviewed = { of, verdict: await deps.review({ ...words, ...(evidence && { evidence }) }, signal) };
    }
    const { verdict } = reviewed;
    if (!evidence) return { outcome, verdict: disputed(verdict, outcome) };
    const candidates = (verdict.kind !== "denied" && verdict.candidates) || [];
    const change = await finishedChange(task, words, evidence, signal);
    const round = latestRound(task, steps);
    const readings = readingsIn(round);
    const isRead = readings.some(({ reading }) => !reading.isWithoutReport);
    const isReading = isRead || (reader !== null && readings.length === 0);
    const untrue = isRead ? standingOf(candidates, steps) : candidates;
    const found = [...(isAway ? [unread("was unavailable")] : []), ...findingsOfReadings(round, change), ...untrue];
    const judged = disputed(withFindings(verdict, found), outcome);
    if (outcome.kind === "stopped") return { outcome, verdict: judged };
    // What goes to the reader is given back by it.
    opening = await nextOpening(worked, disputed(withFindings(verdict, isReading ? [] : candidates), outcome));
    if (opening) continue;
    const seen = readings.map(({ reading }) => reading);
    const isAgain = readings.length === 1 && readings[0]?.text !== "" && unreadIn(change, seen).length > 0;
    if (verdict.kind === "denied" || !reader || !(readings.length === 0 || isAgain))
      return { outcome, verdict: judged };
    const given = { evidence, candidates: untrue, readings: seen };
    const answer = await askSecondReader(reader, change, given, redact, signal);
    if (answer === "unavailable") {
      reader = null;
      isAway = true;
    } else {
      // A program has no conversation to continue, and a second reading is not given back. Their reviewer decides.
      const isTold = !isAgain && deps.model.run === undefined;
      const number = (steps.at(-1)?.number ?? 0) + 1;
      await saveStep(readersStep(number, answer, isTold ? standingOf(candidates, steps, answer.reading) : null), []);
    }
  }
}

async function finishedChange(
  { overlay }: AgentTask,
  { title, pullTitle = "", summary, reply = "" }: Words,
  { asked }: Evidence,
  signal: AbortSignal,
): Promise<FinishedChange> {
  const words = {
    "the title": title,
    "the pull request's title": pullTitle,
    "the summary": summary,
    "the reply": reply,
  };
  return { diff: (await overlay.diff(signal)).toString(), words, asked };
}

function withFindings<Verdict extends ReviewAnswer>(verdict: Verdict, findings: readonly Finding[]): Verdict {
  if (verdict.kind === "denied") return verdict;
  const isError = findings.some(({ severity }) => severity === "error");
  const all = [...findings, ...verdict.introduced];
  return {
    ...verdict,
    kind: isError ? "flagged" : verdict.kind,
    introduced: all.toSorted((a, b) => Number(b.severity === "error") - Number(a.severity === "error")),
    ...(verdict.candidates && { candidates: [] }),
  };
}

/** A review's errors, as the next message to the agent. Undefined: there are none, or it had its chances. */
async function nextOpening(task: AgentTask, verdict: ReviewAnswer): Promise<Message | undefined> {
  const findings = (await withinReach(task, findingsOf(verdict))).filter(({ dispute }) => dispute === undefined);
  const mustRepair = verdict.kind !== "passed" && findings.some(({ severity }) => severity === "error");
  const isGivenBack = timesGivenBack(latestRound(task, task.steps)) >= roundsMax;
  return mustRepair && !isGivenBack ? reviewOpening(findings) : undefined;
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

function changeKey({ overlay }: Pick<AgentTask, "overlay">, words: object): string {
  const sum = createHash("sha256").update(JSON.stringify(words));
  for (const { path, mode, content } of overlay.entries()) {
    sum.update(`\0${path}\0${mode}\0${content?.byteLength ?? "gone"}\0`);
    if (content) sum.update(content);
  }
  return sum.digest("hex");
}

function wordsOf(outcome: Exclude<AgentOutcome, { kind: "unchanged" | "asked" }>): Words {
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

function timesGivenBack(steps: readonly Step[]): number {
  return steps.filter((step) => step.messages.some((said) => said.role === "user" && said.from === "review")).length;
}

function findingsOf(verdict: ReviewAnswer): readonly DisputedFinding[] {
  if (verdict.kind !== "denied") return verdict.introduced;
  return verdict.violations.map(({ path, rule }) => ({
    check: "policy",
    severity: "error",
    path: path || wholeChange,
    line: 1,
    column: 1,
    message: rule,
  }));
}

/** A model's words may describe an edit that it never made. */
function tellUnchanged({ nature }: Model, task: AgentTask, outcome: AgentOutcome): AgentOutcome {
  if (outcome.kind !== "unchanged" || nature === "rules" || isPlanning(task)) return outcome;
  const unchanged = "Nothing was changed.";
  if (outcome.summary.startsWith(unchanged)) return outcome;
  return { kind: "unchanged", summary: `${unchanged} The agent's words: ${outcome.summary}` };
}

const kindsToldMax = 5;

/** Reported in the outcome, because the author cannot know otherwise that parts of the prompt were withheld. */
function tellRedacted(outcome: AgentOutcome, task: Pick<AgentTask, "prompt" | "followUps">): AgentOutcome {
  if (outcome.kind === "asked") return outcome;
  const marks = new Set(latestPrompt(task).match(/\[redacted: [\w-]{1,60}\]/g));
  if (marks.size === 0) return outcome;
  const shown = [...marks].slice(0, kindsToldMax).map((mark) => `\`${mark}\``);
  const notice = `Where the request says ${shown.join(", ")}, a credential stood. It was taken out before anything was stored, so the agent was not told it. To have one removed from pages, ask by the page or by how the credential begins, and revoke it.`;
  return { ...outcome, summary: `${outcome.summary}\n\n${notice}` };
}
