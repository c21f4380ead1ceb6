import type { AgentJob, Jobs } from "@emend/sdk";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { safeText } from "../terminal/format.ts";
import { failureText } from "../watch/failure-text.ts";
import { narratorFor } from "../watch/narrator-for.ts";
import { createTeller } from "../watch/teller.ts";
import { watchJob } from "../watch/watch-job.ts";

interface WaitOptions {
  project: string;
  json?: boolean;
  after?: number;
}

/** Waits for a started job, shows its phases on stderr, and prints its pull request's link. */
export async function finishJob(cli: Cli, jobs: Jobs, started: AgentJob, options: WaitOptions): Promise<void> {
  const job = await untilFinal(cli, jobs, started, options);
  if (options.json) printResult(cli, options, job, "");
  else if (job.prLink && job.status !== "failed") printResult(cli, options, job, safeText(job.prLink));
  if (!job.prLink && job.status === "completed" && !options.json) {
    say(cli, options, `Completed: nothing was changed.${await whyUnchanged(cli, jobs, job)}`);
  }
  await assertNotFailed(cli, jobs, job);
}

/** Waits for a started job and shows its phases on stderr. */
export async function untilFinal(cli: Cli, jobs: Jobs, started: AgentJob, options: WaitOptions): Promise<AgentJob> {
  say(cli, options, `Job ${started.id} is ${started.status}.`);
  const narrator = narratorFor(cli, cli.stderr, options);
  const { tell } = createTeller(narrator);
  const after = options.after === undefined ? {} : { after: options.after };
  return watchJob(jobs, started.id, { ...after, onEvent: tell, signal: cli.signal })
    .catch((error) => {
      if (!cli.signal.aborted) throw error;
      const again = `emend job get ${options.project} ${started.id}`;
      throw new CliError("interrupted", `stopped waiting; the job goes on: ${again}`);
    })
    .finally(narrator.end);
}

/** The first line of the job's summary. Empty if the service has no runs. */
async function whyUnchanged(cli: Cli, jobs: Pick<Jobs, "run">, job: AgentJob): Promise<string> {
  const run = await jobs.run(job.id, { signal: cli.signal }).catch(() => null);
  const [line = ""] = (run?.summary ?? "").split("\n");
  return line === "" ? "" : ` ${safeText(line)}`;
}

/** A failed job has its own exit code and prints the reason. */
export async function assertNotFailed(cli: Cli, jobs: Pick<Jobs, "run">, job: AgentJob): Promise<void> {
  if (job.status !== "failed") return;
  // A service without runs still reports that the job failed.
  const run = await jobs.run(job.id, { signal: cli.signal }).catch(() => null);
  const kept = job.prLink ? `\nWhat it had done is kept at ${job.prLink}` : "";
  throw new CliError("jobFailed", failureText(`job ${job.id} failed`, run?.failure ?? null, kept));
}
