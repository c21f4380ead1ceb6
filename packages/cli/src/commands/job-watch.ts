import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { safeText } from "../terminal/safe-text.ts";
import { narratorFor } from "../watch/narrator-for.ts";
import { createTeller } from "../watch/teller.ts";
import { watchJob } from "../watch/watch-job.ts";
import { assertNotFailed } from "./finish-job.ts";
import { jobsOf } from "./jobs-of.ts";

interface WatchOptions {
  json?: boolean;
}

export function registerJobWatch(job: Command, cli: Cli): void {
  job
    .command("watch")
    .description("follow a job until it is over")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id")
    .option("--json", "print each event as a line of JSON")
    .action((project: string, id: string, options: WatchOptions) => watch(cli, project, id, options));
}

async function watch(cli: Cli, project: string, id: string, options: WatchOptions): Promise<void> {
  const jobs = jobsOf(cli, project);
  if (options.json) {
    for await (const event of jobs.events(id, { signal: cli.signal })) cli.stdout.write(`${JSON.stringify(event)}\n`);
    return assertNotFailed(cli, jobs, await jobs.get(id, { signal: cli.signal }));
  }
  const narrator = narratorFor(cli, cli.stdout, options);
  const { tell } = createTeller(narrator);
  const ended = await watchJob(jobs, id, { onEvent: tell, signal: cli.signal }).finally(narrator.end);
  narrator.line(safeText(ended.prLink ?? (ended.status === "completed" ? "nothing was changed" : ended.status)));
  await assertNotFailed(cli, jobs, ended);
}
