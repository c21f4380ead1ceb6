import { assertNever } from "@emend/base/fault.ts";
import { pageName, renameOrders, updateOrder } from "@emend/base/repair-prompt.ts";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import type { AnnounceDue } from "../jobs/announce.ts";
import { createJobWithoutKey, type NewJobRules, scanNewPrompt } from "../jobs/create-job.ts";
import { type GateFinding, type GateStatus, getStatus, markCommentHandled } from "./gate-store.ts";

export interface DocsPullDeps {
  pool: Pool;
  defaultModel: string;
  announceDue: AnnounceDue;
  newJobRules(project: Project, model: string): NewJobRules;
}

const rulesModel = "emend/rules";

/** What the button would do, or why it can do nothing. */
export type DocsPullPlan =
  | { kind: "possible"; prompt: string; baseRef: string | null }
  | { kind: "vain"; words: string };

/** `message`: what a job that was there before has to hear, for a fix of one finding. */
type MadeDocsPull = { jobId: string } & (
  | { kind: "created" }
  | { kind: "running"; message?: { prompt: string; model: string } }
);

/**
 * Starts the job that opens the docs pull request. Idempotent for a status: while the job runs, or its pull request is open,
 * another call returns the same job. `only`: the finding that it is to fix.
 */
export async function startDocsJob(
  deps: DocsPullDeps,
  /** `commentId`: the comment that asks for it. It is marked as handled in the same transaction. */
  { id, createdBy, commentId, only }: { id: string; createdBy: string; commentId?: string; only?: NamedFinding },
): Promise<MadeDocsPull> {
  const due: string[] = [];
  const scanned = await scanPlan(deps, await planFor(deps, deps.pool, id, only));
  const made = await inTransaction(deps.pool, async (client): Promise<MadeDocsPull> => {
    await client.query("select from gate_statuses where id = $1 for update", [id]);
    const { status, project, model, plan } = await planFor(deps, client, id, only);
    if (commentId !== undefined) await markCommentHandled(client, id, commentId);
    const running = status.jobId === null ? null : await findRunning(client, status.jobId);
    if (running && !only) return { kind: "running", jobId: running.id };
    if (plan.kind === "vain") throw new AppError("conflict", { publicMessage: plan.words });
    if (plan.prompt !== scanned?.prompt) {
      throw new AppError("conflict", { publicMessage: "The findings changed just now. Try again.", retryable: true });
    }
    if (running) {
      const isAsked = running.prompt.includes(plan.prompt);
      return { kind: "running", jobId: running.id, ...(!isAsked && { message: { prompt: plan.prompt, model } }) };
    }
    const outcome = await createJobWithoutKey(
      { db: client, announceDue: (projectId) => void due.push(projectId) },
      deps.newJobRules(project, model),
      {
        projectId: project.id,
        ...scanned,
        baseRef: plan.baseRef,
        model,
        createdBy,
      },
    );
    switch (outcome.kind) {
      case "created":
        await client.query("update gate_statuses set job_id = $2 where id = $1", [id, outcome.jobId]);
        return { kind: "created", jobId: outcome.jobId };
      case "limited":
        throw new AppError("rate_limited", {
          publicMessage: "The project reached its job limit. Try again later.",
          retryAfterMs: outcome.quota.freesInMs,
        });
      case "over_budget": {
        const { words, renewsInMs } = outcome.refusal;
        throw new AppError("rate_limited", { publicMessage: words, retryAfterMs: renewsInMs });
      }
      default:
        return assertNever(outcome);
    }
  });
  for (const projectId of due) deps.announceDue(projectId);
  return made;
}

async function planFor(deps: DocsPullDeps, db: Queryable, id: string, only?: NamedFinding) {
  const found = await getStatus(db, id);
  const status = found && only ? { ...found, findings: [findNamed(found, only)] } : found;
  const project = status && (await getProject(db, status.projectId));
  if (!status || !project) throw new AppError("not_found", { publicMessage: "Status not found." });
  const model = allowedModels(project.settings, deps.defaultModel)[0];
  return { status, project, model, plan: planDocsPull(status, model) };
}

async function scanPlan(deps: DocsPullDeps, { project, model, plan }: Awaited<ReturnType<typeof planFor>>) {
  if (plan.kind === "vain") return null;
  const { prompt } = plan;
  const rules = deps.newJobRules(project, model);
  return { prompt, kept: await scanNewPrompt(deps.pool, rules, { projectId: project.id, prompt }) };
}

/** A job that is running, or whose pull request is open. */
async function findRunning(db: Queryable, jobId: string): Promise<{ id: string; prompt: string } | null> {
  const { rows } = await db.query<{ id: string; prompt: string }>(
    "select id, prompt from jobs where id = $1 and (status = 'active' or pull_request ->> 'state' = 'open')",
    [jobId],
  );
  return rows[0] ?? null;
}

/** What names one finding of a status. */
export type NamedFinding = Pick<GateFinding, "check" | "path" | "line" | "message">;

export function findNamed({ findings }: GateStatus, { check, path, line, message }: NamedFinding): GateFinding {
  const isIt = (one: GateFinding) =>
    one.check === check && one.path === path && one.line === line && one.message === message;
  const found = findings.find(isIt);
  if (found) return found;
  throw new AppError("not_found", { publicMessage: "The status no longer has this finding. Reload the page." });
}

/** Whether a job can fix it: an error, a text that relies on changed code, or a name that only another package may have. */
export function isFixable({ severity, claim, certainty, unread }: GateFinding): boolean {
  return severity === "error" || claim !== undefined || (certainty === "likely" && unread === undefined);
}

/** The instruction that fixes the findings. Lines of code are marked as content in it (prompt injection). */
export function planDocsPull(
  { contextId, pull, findings }: Pick<GateStatus, "contextId" | "pull" | "findings">,
  model: string,
): DocsPullPlan {
  const fixable = findings.filter(isFixable);
  if (fixable.length === 0) return { kind: "vain", words: "There is nothing to fix." };
  if (contextId === null && pull.isFork) {
    return { kind: "vain", words: "The branch is in a fork, where Emend cannot push. Fix the pages on that branch." };
  }
  // A docs pull request is fixed on its own branch.
  const baseRef = contextId === null ? pull.head : null;
  const isRules = model === rulesModel;
  // The rules fix a link only where one target is certain.
  const broken = fixable.filter((finding) => isLink(finding) && (!isRules || finding.isFixable));
  const orders = [...renameOrders(fixable), ...linkOrder(broken)];
  const rest = fixable.filter((finding) => !finding.renamed && !isLink(finding));
  if (isRules) {
    if (orders.length > 0) return { kind: "possible", prompt: orders.join("\n"), baseRef };
    const words = "The built-in rules can rename and fix links, and this needs more. Choose a model for the project.";
    return { kind: "vain", words };
  }
  const prompt = [...orders, updateOrder(rest) ?? []].flat().join("\n\n");
  return { kind: "possible", prompt, baseRef };
}

function isLink({ check }: GateFinding): boolean {
  return check === "broken-link" || check === "broken-anchor";
}

function linkOrder(broken: readonly GateFinding[]): string[] {
  const [path, another] = new Set(broken.map((finding) => finding.path));
  if (path === undefined) return [];
  return [another === undefined ? `Fix broken links in ${pageName(path)}.` : "Fix broken links."];
}
