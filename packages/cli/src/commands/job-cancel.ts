import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";
import { printJob } from "./print-job.ts";

export function registerJobCancel(job: Command, cli: Cli): void {
  const command = job
    .command("cancel")
    .description("cancel an active job")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id");
  withJson(command).action((project: string, id: string, options: { json?: boolean }) =>
    cancelJob(cli, project, id, options),
  );
}

async function cancelJob(cli: Cli, project: string, id: string, options: { json?: boolean }): Promise<void> {
  printJob(cli, options, await jobsOf(cli, project).cancel(id, { signal: cli.signal }));
}
