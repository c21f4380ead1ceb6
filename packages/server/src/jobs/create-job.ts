import { hash } from "node:crypto";
import type { Pool, Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { newId } from "../lib/id.ts";
import type { AnnounceDue } from "./announce.ts";
import { type BudgetRefusal, budgetRefusal } from "./budget.ts";
import { quotaFilledMeanwhile, redactWithinQuota } from "./redact-prompt.ts";
import { splitNewJobBody } from "./wire-job.ts";

export interface CreateJobInput {
  projectId: string;
  prompt: string;
  /** The same for the same words and files. Absent: the prompt. */
  identity?: string;
  /** From `scanNewPrompt`. */
  kept: string | null;
  /** From the request. Null: not set. */
  baseRef: string | null;
  model: string | null;
  draft: boolean | null;
  maxCostUsd: number | null;
  /** Show the diff, and open no pull request. */
  preview?: boolean;
  /** Make a plan first, and change nothing until a message. */
  plan?: boolean;
  /** What happens to constructs that Emend does not know. Null: the project's setting. */
  unknown?: "ask" | "draft" | "refuse" | null;
  createdBy: string;
  idempotencyKey: string | null;
}

/** The project's rules for new jobs. */
export interface NewJobRules {
  repositoryUrl: string;
  branchPrefix: string;
  /** The default if the request names none. */
  model: string;
  costUsdMax: number;
  quota: QuotaRule;
}

export interface QuotaRule {
  usesMax: number;
  windowMs: number;
}

/** The project's quota after a request, by the database's clock. */
export interface QuotaState {
  usesMax: number;
  windowMs: number;
  usesLeft: number;
  /** When there is room for one more. */
  freesAt: Date;
  freesInMs: number;
}

export type CreateJobOutcome =
  | { kind: "created" | "replayed"; jobId: string; body: string; quota: QuotaState }
  /** The idempotency key was used with another body. */
  | { kind: "conflict" }
  | { kind: "limited"; quota: QuotaState }
  | { kind: "over_budget"; refusal: BudgetRefusal };

const notNullViolation = "23502";

interface Row {
  outcome: CreateJobOutcome["kind"];
  response: string;
  job_id: string;
  used: number;
  at: Date;
  frees_at: Date;
}

/**
 * The prompt without credentials. Null: the quota has no room. It takes a pool: a transaction that waited for the
 * scanner would hold its locks meanwhile.
 */
export function scanNewPrompt(
  pool: Pool,
  { quota }: Pick<NewJobRules, "quota">,
  { projectId, prompt }: Pick<CreateJobInput, "projectId" | "prompt">,
): Promise<string | null> {
  return redactWithinQuota(pool, { projectId, kind: "create", ...quota }, prompt);
}

/** Accepts a prompt, or says why not. Takes one round trip and one transaction (the function `create_job`). */
export async function createJob(
  deps: { db: Queryable; announceDue: AnnounceDue },
  rules: NewJobRules,
  input: CreateJobInput,
): Promise<CreateJobOutcome> {
  const id = newId("job");
  const branch = `${rules.branchPrefix}/${id}`;
  const model = input.model ?? rules.model;
  const [head, tail] = splitNewJobBody({ id, repositoryUrl: rules.repositoryUrl, branch, model });
  const { preview = false, plan = false, unknown = null } = input;
  const isMarked = preview || plan || unknown !== null;
  const query = deps.db.query<Row>({
    name: isMarked ? "create-marked-job" : "create-job",
    text: `select * from ${isMarked ? "create_marked_job" : "create_job"}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, make_interval(secs => $12),
             $13, $14, $15, $16${isMarked ? ", $17, $18, $19" : ""})`,
    values: [
      id,
      input.projectId,
      input.kept,
      model,
      rules.repositoryUrl,
      branch,
      input.createdBy,
      input.baseRef,
      input.draft,
      input.maxCostUsd === null ? null : Math.min(input.maxCostUsd, rules.costUsdMax),
      rules.quota.usesMax,
      rules.quota.windowMs / 1000,
      input.idempotencyKey,
      input.idempotencyKey === null ? null : bodyHash(input),
      head,
      tail,
      ...(isMarked ? [preview, plan, unknown] : []),
    ],
  });
  const { rows } = await query.catch((cause: unknown) => {
    throw input.kept === null && (cause as { code?: unknown }).code === notNullViolation
      ? quotaFilledMeanwhile()
      : cause;
  });
  const row = rows[0] as Row;
  if (row.outcome === "conflict") return { kind: "conflict" };
  if (row.outcome === "over_budget") return { kind: "over_budget", refusal: budgetRefusal(JSON.parse(row.response)) };
  const quota = quotaState(rules.quota, row);
  if (row.outcome === "limited") return { kind: "limited", quota };
  if (row.outcome !== "created" && row.outcome !== "replayed") {
    // A newer release, which runs beside this one, has migrated the database: one of its nodes answers the retry.
    throw new AppError("unavailable", { publicMessage: "This node is being replaced by a newer release. Retry." });
  }
  if (row.outcome === "created") deps.announceDue(input.projectId);
  return { kind: row.outcome, jobId: row.job_id, body: row.response, quota };
}

/** As createJob, for what does not come through the API: without an idempotency key, and with the project's own limits. */
export async function createJobWithoutKey(
  deps: { db: Queryable; announceDue: AnnounceDue },
  rules: NewJobRules,
  input: Pick<CreateJobInput, "projectId" | "prompt" | "kept" | "baseRef" | "model" | "createdBy">,
): Promise<{ kind: "created"; jobId: string } | Extract<CreateJobOutcome, { kind: "limited" | "over_budget" }>> {
  const outcome = await createJob(deps, rules, { ...input, draft: null, maxCostUsd: null, idempotencyKey: null });
  if (outcome.kind === "limited" || outcome.kind === "over_budget") return outcome;
  if (outcome.kind === "created") return { kind: "created", jobId: outcome.jobId };
  throw new Error(`a create without a key was ${outcome.kind}`);
}

/** Two bodies are equal if the fields that Emend reads are: white space, order and unknown fields do not count. */
function bodyHash(input: CreateJobInput): Buffer {
  const fields: unknown[] = [input.identity ?? input.prompt, input.baseRef, input.model, input.draft, input.maxCostUsd];
  if (input.preview) fields.push("preview");
  if (input.plan) fields.push("plan");
  if (input.unknown) fields.push(`unknown ${input.unknown}`);
  return hash("sha256", JSON.stringify(fields), "buffer");
}

export function quotaState(rule: QuotaRule, row: { used: number; at: Date; frees_at: Date }): QuotaState {
  return {
    ...rule,
    usesLeft: Math.max(0, rule.usesMax - row.used),
    freesAt: row.frees_at,
    freesInMs: Math.max(0, row.frees_at.getTime() - row.at.getTime()),
  };
}
