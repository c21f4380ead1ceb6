import { fenced } from "@emend/base/markdown.ts";
import { type CommitCheck, type CommitChecks, isAtCommit, type PullRequest } from "@emend/forges";
import { type DuePullRequest, markHandled, type WatchedCommit } from "../jobs/pull-requests.ts";
import type { CommentDeps } from "./comment-deps.ts";

const logsMax = 3;
const checksMax = 20;
const wordsMax = 500;
const nameMax = 100;

/** A check that failed, and what the same check says about the commit where the branch began. */
type FailedCheck = CommitCheck & { onBase: CommitCheck["state"] | null };

/**
 * What CI says about a job's own commit becomes a round of repair, or a comment that says why not. Each commit is judged
 * once, when no check is running. A check that fails on the base commit too is not the change's fault; of the others the
 * model decides. The commit is marked as handled together with the round, or after the comment: a crash repeats neither.
 */
export async function followCi(
  deps: CommentDeps,
  due: DuePullRequest & { ci: WatchedCommit },
  pull: Pick<PullRequest, "headCommit">,
  forge: CommitChecks,
  signal: AbortSignal,
): Promise<void> {
  const { jobId, projectId } = due;
  const { commit, base, rounds, roundsMax } = due.ci;
  const mark = `ci-${commit}`;
  // A person may have pushed since. Then the results are about their commit.
  if (due.heard.includes(mark) || !isAtCommit(pull, commit)) return;
  const { checks } = await forge.report({ commit, pull: due.number }, signal);
  if (checks.some(({ state }) => state === "pending")) return;
  const failed = checks.filter(({ state }) => state === "failed");
  if (failed.length === 0) return;
  const before = base === null ? [] : (await forge.report({ commit: base, pull: null }, signal)).checks;
  const judged = failed.map((check) => {
    return { ...check, onBase: before.find(({ name }) => name === check.name)?.state ?? null };
  });
  const own = judged.filter(({ onBase }) => onBase !== "failed");
  if (own.length === 0) {
    return tell(`CI fails for another reason than this change: ${namesOf(judged)} also failed on ${base}.`);
  }
  if (rounds >= roundsMax) {
    const tries = roundsMax === 1 ? "one repair" : `${roundsMax} repairs`;
    return tell(
      `CI still fails after ${tries}: ${namesOf(own)}. Emend stops here. Push to this branch, or comment \`@emend\` and what to change.`,
    );
  }
  deps.crashPoint?.("before-repair-round");
  const prompt = await promptOf(commit, own, forge, signal);
  const author = (own[0]?.name ?? "").slice(0, nameMax);
  const outcome = await deps.followUp({ jobId, projectId, commentId: mark, prompt, author, by: "ci" });
  deps.crashPoint?.("after-repair-round");
  if (outcome.kind === "refused") await tell(`CI failed: ${namesOf(own)}. Emend did not repair it: ${outcome.words}`);

  async function tell(words: string): Promise<void> {
    await deps.askAnswer({ jobId, to: mark, words });
    deps.crashPoint?.("after-ci-told");
    await markHandled(deps.pool, jobId, mark);
  }
}

/** Names and logs are content: whoever sets a status or writes to a log must not instruct the agent. */
async function promptOf(
  commit: string,
  failed: readonly FailedCheck[],
  forge: CommitChecks,
  signal: AbortSignal,
): Promise<string> {
  const shown = failed.slice(0, checksMax);
  const list = shown.map(({ name, words, onBase }, index) => {
    const said = words === "" ? "" : `: ${words.slice(0, wordsMax)}`;
    return `${index + 1}. ${name.slice(0, nameMax)} (${onBase === "passed" ? "passed" : "unknown"} on the base commit)${said}`;
  });
  const logs: string[] = [];
  for (const [index, { log }] of shown.entries()) {
    const text = log === null || logs.length >= logsMax ? null : await forge.readLog({ commit, log }, signal);
    if (text) logs.push(fenced(`the end of the log of check ${index + 1}`, [text]));
  }
  return [
    `CI failed on commit ${commit}, the last one of your pull request. Find out whether your change caused it.`,
    "If it did, repair it, and change no more than that. If it did not, or if it cannot be repaired in the documentation, change nothing and say why.",
    fenced("the checks that failed", list),
    ...logs,
  ].join("\n");
}

function namesOf(checks: readonly CommitCheck[]): string {
  const names = checks.slice(0, checksMax).map(({ name }) => `\`${name.slice(0, nameMax).replaceAll(/[`\n]/g, "")}\``);
  return [...names, ...(checks.length > checksMax ? [`${checks.length - checksMax} more`] : [])].join(", ");
}
