import type { LeasedJob, StoredSource } from "../jobs/leased-job.ts";
import type { RecordedChange } from "../jobs/record-change.ts";
import type { Verdict } from "../review/review.ts";
import { describeVerdict } from "./describe-verdict.ts";
import { pullTitleOf } from "./pull-title.ts";
import type { LimitCode, OpenTree, Stages, Words } from "./run.ts";

const withheld: Words = {
  title: "Withheld: the change contained a secret",
  summary: "The change contained what looks like a credential. Emend published nothing and deleted the change.",
};

/** A judged change as it is stored: neither a diff nor words with a credential in them are kept where people read. */
export async function recordedChange(
  stages: Stages,
  job: LeasedJob,
  tree: OpenTree,
  judged: Words & { verdict: Verdict; limitReached: LimitCode | null; sources: readonly StoredSource[] },
  signal: AbortSignal,
): Promise<RecordedChange> {
  const { verdict, limitReached, sources } = judged;
  const holdsSecret = verdict.kind === "denied" && verdict.violations.some((violation) => violation.isSecret);
  const { title, summary } = holdsSecret ? withheld : judged;
  const nothing = { patch: Buffer.alloc(0), base: tree.base.commit };
  const { patch, base } = holdsSecret ? nothing : await stages.diff(job, tree, { title, summary }, signal);
  return {
    title,
    pullTitle: holdsSecret ? (job.title ?? title) : pullTitleOf(job, judged),
    summary,
    reply: holdsSecret ? null : (judged.reply ?? null),
    isWithheld: holdsSecret,
    limitReached,
    sources,
    findings: verdict,
    figures: describeVerdict(verdict),
    diff: patch,
    diffBase: base,
  };
}
