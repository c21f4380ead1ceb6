import { type AgentJob, Emend, type JobRun, type Jobs } from "@emend/sdk";
import { createWorkflow, type Inputs, readInputs, type Workflow } from "./workflow.ts";

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
    return await runMode(workflow, inputs, jobs, print);
  } catch (error) {
    workflow.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

async function runMode(workflow: Workflow, inputs: Inputs, jobs: Jobs, print: (line: string) => void): Promise<number> {
  const { prompt, baseRef, model, draft, idempotencyKey } = inputs;
  const body = { prompt, draft, ...(baseRef === null ? {} : { baseRef }), ...(model === null ? {} : { model }) };
  let job: AgentJob | null = null;
  let problem: string | null = null;
  try {
    job = await jobs.create(body, { idempotencyKey });
    print(`Job ${job.id} is ${job.status}.`);
    if (inputs.wait) job = await waitFor(jobs, job, inputs.timeoutMinutes);
    if (inputs.wait && job.status === "active") {
      problem = `job ${job.id} is not over after ${inputs.timeoutMinutes} minutes; it continues on the server`;
    }
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const id = job?.id;
  // A service with only the two basic operations has no run. The job itself is enough.
  const run = id === undefined ? null : await jobs.run(id).catch(() => null);
  if (job?.status === "failed") {
    problem = `job ${job.id} failed${run?.failure ? ` (${run.failure.code}): ${run.failure.message}` : ""}`;
  }
  // Every output is set, however the step ends: steps that run `if: always()` read them.
  workflow.setOutput("job-id", id ?? "");
  workflow.setOutput("status", job?.status ?? "not-created");
  workflow.setOutput("pull-request", job?.prLink ?? "");
  workflow.addSummary(summaryOf(inputs, job, run, problem));
  print(job?.prLink ?? `No pull request: the job is ${job?.status ?? "not created"}.`);
  if (problem === null) return 0;
  workflow.error(problem);
  return 1;
}

/** The job when it is over, or as it is when the time is up. */
async function waitFor(jobs: Jobs, created: AgentJob, minutes: number): Promise<AgentJob> {
  const patience = AbortSignal.timeout(minutes * 60_000);
  return jobs.wait(created.id, { signal: patience }).catch((error) => {
    if (patience.aborted) return jobs.get(created.id);
    throw error;
  });
}

function summaryOf({ prompt }: Inputs, job: AgentJob | null, run: JobRun | null, problem: string | null): string {
  const [link, summary] = [job?.prLink, run?.summary];
  const state = link
    ? `[Open the pull request](${link})`
    : `No pull request; the job is **${job?.status ?? "not created"}**.`;
  // Keeps the prompt quoted, whatever it contains.
  const quoted = prompt.split(/\r?\n/).map((line) => `> ${line}`);
  const failure = run?.failure ? [`\`${run.failure.code}\`: ${run.failure.message}`, ""] : problem ? [problem, ""] : [];
  return ["### Emend", "", ...quoted, "", state, "", ...failure, ...(summary ? [summary, ""] : [])].join("\n");
}
