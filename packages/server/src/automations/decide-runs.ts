import { hash } from "node:crypto";
import { getProject } from "../accounts/get-project.ts";
import { allowedModels } from "../accounts/project-settings.ts";
import type { Client, Queryable } from "../db/pool.ts";
import { createJob } from "../jobs/create-job.ts";
import { keptPrompt } from "../jobs/kept-prompt.ts";
import { acceptMessage, messageQuota } from "../jobs/message-job.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { Automation, WaitingRun } from "./automation.ts";
import type { AutomationDeps } from "./automations.ts";
import { type JobState, readClosedBefore, readJobState } from "./job-state.ts";
import type { Settlement } from "./settle-runs.ts";
import { renderTemplate } from "./template.ts";
import { mergeValues, type Values } from "./values.ts";

type DecideDeps = Omit<AutomationDeps, "pool"> & { client: Client };

/** What the runs that wait at an automation become together. */
export async function decideRuns(
  deps: DecideDeps,
  automation: Automation,
  runs: readonly WaitingRun[],
): Promise<Settlement> {
  const [first, ...others] = runs as readonly [WaitingRun, ...WaitingRun[]];
  const values = mergeValues(first.values, ...others.map((run) => run.values));
  const prompt = renderTemplate(automation.prompt, values);
  const contentHash = contentHashOf(automation.prompt, values);
  const job = automation.jobId === null ? null : await readJobState(deps.client, automation.jobId);
  if (job?.status === "active") return waits(`Waiting for job ${job.id}, which is still running.`);
  if (job?.pullRequest?.state === "open") return continueJob(deps, automation, job, { prompt, contentHash });
  if (!runs.some((run) => run.byHand)) {
    const closed = await readClosedBefore(deps.client, automation.id, contentHash);
    if (closed !== null) {
      const words = `Skipped: the same change was proposed in ${closed} and closed unmerged. Run it manually to propose it again.`;
      return { state: "skipped", words, jobId: null, contentHash };
    }
  }
  return startJob(deps, automation, { prompt, contentHash });
}

/** The date alone makes no new question. */
function contentHashOf(template: string, values: Values): Buffer {
  return hash("sha256", renderTemplate(template, { ...values, date: "" }), "buffer");
}

function waits(words: string, retryInMs = 0): Settlement {
  return { state: "waiting", words, retryInMs };
}

interface Question {
  prompt: string;
  contentHash: Buffer;
}

async function continueJob(
  deps: DecideDeps,
  automation: Automation,
  job: JobState,
  question: Question,
): Promise<Settlement> {
  const { id: jobId, projectId, pullRequest } = job;
  const { contentHash, prompt } = question;
  const outcome = await acceptMessage(deps.client, messageQuota, {
    id: jobId,
    projectId,
    kept: await keptPrompt(prompt),
    createdBy: `automation/${automation.id}`,
  });
  switch (outcome.kind) {
    case "accepted": {
      const words = `Continued job ${jobId}, whose pull request ${pullRequest?.url} is open.`;
      return { state: "continued", words, jobId, contentHash };
    }
    case "limited":
      return waits("The project reached its message limit. Emend retries when there is room.", outcome.quota.freesInMs);
    case "refused":
    case "unknown_job": {
      // Archived: nothing more is added to it, and a second one beside it would be one too many.
      const words = `Skipped: pull request ${pullRequest?.url} is still open, but its job takes no more messages.`;
      return { state: "skipped", words, jobId, contentHash };
    }
    default:
      return assertNever(outcome);
  }
}

async function startJob(deps: DecideDeps, automation: Automation, question: Question): Promise<Settlement> {
  const { prompt, contentHash } = question;
  const project = await findProject(deps.client, automation);
  const models = allowedModels(project.settings, deps.defaultModel);
  const model = automation.model ?? models[0];
  if (!models.includes(model)) {
    const words = `Skipped: the project no longer allows the model ${model}.`;
    return { state: "skipped", words, jobId: null, contentHash };
  }
  const outcome = await createJob(
    { db: deps.client, announceDue: deps.announceDue },
    deps.createJobRules(project, model),
    {
      projectId: project.id,
      prompt,
      baseRef: null,
      model,
      draft: null,
      maxCostUsd: null,
      createdBy: `automation/${automation.id}`,
      idempotencyKey: null,
    },
  );
  switch (outcome.kind) {
    case "created":
      return { state: "started", words: `Started job ${outcome.jobId}.`, jobId: outcome.jobId, contentHash };
    case "limited":
      return waits("The project reached its job limit. Emend retries when there is room.", outcome.quota.freesInMs);
    // Without an idempotency key nothing is replayed and nothing conflicts.
    case "replayed":
    case "conflict":
      throw new Error(`a create without a key was ${outcome.kind}`);
    default:
      return assertNever(outcome);
  }
}

async function findProject(db: Queryable, automation: Automation) {
  const project = await getProject(db, automation.projectId);
  if (project) return project;
  throw new Error(`automation ${automation.id} outlived its project`);
}
