import { type AgentJob, Emend, type JobRun, type Jobs } from "@emend/sdk";
import { type Inputs, readInputs } from "./inputs.ts";
import { createWorkflow, type Workflow } from "./workflow.ts";

/**
 * One step of a workflow: creates a job, waits for it and adds its link to the summary; or checks the docs of the
 * checkout. Returns the exit code.
 */
export async function runAction(env: NodeJS.ProcessEnv, print: (line: string) => void): Promise<number> {
  const workflow = createWorkflow(env, print);
  try {
    const inputs = readInputs(env);
    if (inputs.mode === "check") {
      const { checkDocs } = await import("./check-docs.ts");
      return await checkDocs(env, workflow, inputs, print);
    }
    workflow.mask(inputs.apiKey);
    const jobs = new Emend({ baseUrl: inputs.url, apiKey: inputs.apiKey }).jobs(inputs.project);
    return await carryOut(workflow, inputs, jobs, print);
  } catch (error) {
    workflow.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

async function carryOut(
  workflow: Workflow,
  inputs: Inputs,
  jobs: Jobs,
  print: (line: string) => void,
): Promise<number> {
  const { prompt, baseRef, model, draft, idempotencyKey } = inputs;
  const body = { prompt, draft, ...(baseRef === null ? {} : { baseRef }), ...(model === null ? {} : { model }) };
  const created = await jobs.create(body, { idempotencyKey });
  workflow.setOutput("job-id", created.id);
  print(`Job ${created.id} is ${created.status}.`);
  const job = inputs.wait ? await waitFor(jobs, created.id, inputs.timeoutMinutes) : created;
  // A service with only the two basic operations has no run. The job itself is enough.
  const run = await jobs.run(job.id).catch(() => null);
  workflow.setOutput("status", job.status);
  workflow.setOutput("pull-request", job.prLink ?? "");
  workflow.addSummary(summaryOf(inputs, job, run));
  print(job.prLink ?? `No pull request: the job is ${job.status}.`);
  if (job.status !== "failed") return 0;
  const why = run?.failure ? ` (${run.failure.code}): ${run.failure.message}` : "";
  workflow.error(`job ${job.id} failed${why}`);
  return 1;
}

async function waitFor(jobs: Jobs, id: string, minutes: number): Promise<AgentJob> {
  const patience = AbortSignal.timeout(minutes * 60_000);
  return jobs.wait(id, { signal: patience }).catch((error) => {
    throw patience.aborted ? new Error(`job ${id} is not over after ${minutes} minutes; it goes on`) : error;
  });
}

function summaryOf({ prompt }: Inputs, job: AgentJob, run: JobRun | null): string {
  const [link, summary] = [job.prLink, run?.summary];
  const state = link ? `[Open the pull request](${link})` : `No pull request; the job is **${job.status}**.`;
  // Keeps the prompt quoted, whatever it contains.
  const quoted = prompt.split(/\r?\n/).map((line) => `> ${line}`);
  const failure = run?.failure ? [`\`${run.failure.code}\`: ${run.failure.message}`, ""] : [];
  return ["### Emend", "", ...quoted, "", state, "", ...failure, ...(summary ? [summary, ""] : [])].join("\n");
}
