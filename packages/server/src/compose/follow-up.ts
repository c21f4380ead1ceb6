import { notUnderstood, pageNames, readPrompt } from "@emend/agent";
import { assertNever } from "@emend/base/fault.ts";
import { rulesModelName } from "@emend/base/model-names.ts";
import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { isAppError } from "../errors.ts";
import { acceptMessage, messageQuota } from "../jobs/message-job.ts";
import { markHandled, unmarkHandled } from "../jobs/pull-requests.ts";
import { redactPrompt } from "../jobs/redact-prompt.ts";
import type { CommentDeps } from "../run/comment-deps.ts";

interface FollowUpDeps {
  pool: Pool;
  promptCodePointsMax: number;
  /** The pages that a refusal's examples may name. */
  listPages(projectId: string): Promise<readonly string[]>;
}

/**
 * A comment on a pull request is handled like every message, under the same quota. It is marked as handled in the
 * transaction that accepts it, so a crash leaves both or neither.
 */
export function createFollowUp(deps: FollowUpDeps): CommentDeps["followUp"] {
  const { promptCodePointsMax: max } = deps;
  return async ({ jobId, projectId, commentId, prompt, author, by = "comment" }) => {
    // Forges accept longer comments than the API accepts prompts.
    if (prompt.length > max && [...prompt].length > max) {
      return { kind: "refused", words: `Emend takes ${max} characters at most: say it in fewer.` };
    }
    const kept = await redactPrompt(prompt).catch(asRefusal);
    if (typeof kept !== "string") return kept;
    const refusal = await refusedByRules(deps, { jobId, projectId, kept, by });
    if (refusal !== null) return { kind: "refused", words: refusal };
    const message = { id: jobId, projectId, kept, createdBy: `${by}/${author}`, commentId };
    const outcome = await inTransaction(deps.pool, async (client) => {
      if (!(await markHandled(client, jobId, commentId))) return { kind: "heard" } as const;
      const taken = await acceptMessage(client, messageQuota, message);
      if (taken.kind !== "accepted") await unmarkHandled(client, jobId, commentId);
      return taken;
    });
    switch (outcome.kind) {
      case "accepted":
      case "heard":
        return { kind: outcome.kind };
      case "limited":
        return { kind: "later" };
      case "over_budget":
        return { kind: "refused", words: outcome.refusal.words };
      case "unknown_job":
        return { kind: "refused", words: "Emend no longer knows the job of this pull request." };
      case "refused":
        if (outcome.because === "active") return { kind: "later" };
        return { kind: "refused", words: `Emend cannot continue this job: it is ${outcome.because}.` };
      default:
        return assertNever(outcome);
    }
  };
}

/** A prompt that the API would refuse too. */
function asRefusal(error: unknown): { kind: "refused"; words: string } {
  if (isAppError(error, "invalid_request")) return { kind: "refused", words: error.publicMessage };
  throw error;
}

/** Instructions that the rules cannot understand are refused before the job is restarted. */
async function refusedByRules(
  { pool, listPages }: FollowUpDeps,
  { jobId, projectId, kept, by }: { jobId: string; projectId: string; kept: string; by: "comment" | "ci" },
): Promise<string | null> {
  const { rows } = await pool.query<{ model: string }>(
    "select model from jobs where id = $1 and status in ('completed', 'failed')",
    [jobId],
  );
  const model = rows[0]?.model ?? "";
  if (by === "ci" && model === rulesModelName) return `${rulesModelName} does not repair CI. Use a language model.`;
  const reading = readPrompt(model, kept);
  if (reading.kind !== "not_understood") return null;
  return notUnderstood({ ...reading, names: pageNames(await listPages(projectId)) }).publicMessage;
}
