import { createHash } from "node:crypto";
import type { Pool, Queryable } from "../../db/pool.ts";
import { isAppError } from "../../errors.ts";

/** One question to a model, whose only answer is the input of one tool. */
export interface Question {
  system: string;
  text: string;
  tool: { name: string; description: string; inputSchema: Record<string, unknown> };
}

/** A language model that answers single questions. Throws AppError("model_unavailable"). */
export interface Reader {
  model: string;
  ask(question: Question, signal: AbortSignal): Promise<{ answer: unknown; costUsd: number }>;
}

/** Asks for one subject, such as a pull request, within its limits. */
export interface Asker {
  /** Undefined: it was not asked. `problem` says why. */
  ask(question: Question, signal: AbortSignal): Promise<unknown>;
  problem(): Problem | null;
}

export interface Problem {
  words: string;
  /** Whether a later try may succeed. */
  isPassing: boolean;
}

/** What a subject may cost. */
export interface AskLimit {
  requestsMax: number;
  costUsdMax: number;
}

export const usualLimit: AskLimit = { requestsMax: 30, costUsdMax: 0.05 };
/** Of a new source, once: it reads the changes of some weeks. */
export const backfillLimit: AskLimit = { requestsMax: 60, costUsdMax: 0.25 };
/** The subject of the first comparison of a source. */
export const backfillOf = (sourceId: string) => `backfill ${sourceId}`;
/** Increase it when a question changes its meaning but not its words. */
const version = "1";

/** What was asked about a subject, and what it may cost. Null: nothing was asked. */
export async function askedAbout(
  db: Queryable,
  { projectId, subject }: { projectId: string; subject: string },
  limit: AskLimit = usualLimit,
): Promise<(AskLimit & { requests: number; costUsd: number }) | null> {
  const { rows } = await db.query<{ requests: number; costUsd: number }>(
    `select count(*)::int as requests, coalesce(sum(cost_usd), 0)::float8 as "costUsd"
     from drift_answers where project_id = $1 and subject = $2`,
    [projectId, subject],
  );
  const [spent] = rows;
  return spent === undefined || spent.requests === 0 ? null : { ...spent, ...limit };
}

/** Answers are kept by what was asked, and cost nothing the second time. Those that a subject paid for count for it. */
export async function openAsker(
  pool: Pool,
  { projectId, subject }: { projectId: string; subject: string },
  reader: Reader,
  { requestsMax, costUsdMax }: AskLimit = usualLimit,
): Promise<Asker> {
  let { requests, costUsd } = (await askedAbout(pool, { projectId, subject })) ?? { requests: 0, costUsd: 0 };
  let problem: Problem | null = null;
  return {
    problem: () => problem,
    async ask(question, signal) {
      const parts = JSON.stringify([version, reader.model, question.system, question.text]);
      const key = createHash("sha256").update(parts).digest("hex");
      const known = await pool.query<{ answer: unknown }>(
        "select answer from drift_answers where project_id = $1 and key = $2",
        [projectId, key],
      );
      if (known.rows[0]) return known.rows[0].answer;
      if (problem !== null) return undefined;
      if (requests >= requestsMax || costUsd >= costUsdMax) {
        const words = `The limit of ${requestsMax} questions or $${costUsdMax} to the model was reached`;
        problem = { words, isPassing: false };
        return undefined;
      }
      requests++;
      try {
        const { answer, costUsd: cost } = await reader.ask(question, signal);
        costUsd += cost;
        await pool.query(
          `insert into drift_answers (project_id, key, subject, model, answer, cost_usd)
           select id, $2, $3, $4, $5, $6 from projects where id = $1 on conflict do nothing`,
          [projectId, key, subject, reader.model, JSON.stringify(answer ?? null), cost],
        );
        return answer;
      } catch (error) {
        if (signal.aborted || !isAppError(error, "model_unavailable")) throw error;
        problem = { words: "The model did not answer", isPassing: error.retryable };
        return undefined;
      }
    },
  };
}
