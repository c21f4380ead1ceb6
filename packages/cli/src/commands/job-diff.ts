import { styleText } from "node:util";
import type { JobDiff } from "@emend/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { safeText } from "../terminal/safe-text.ts";
import { table } from "../terminal/table.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";

interface DiffOptions {
  stat?: boolean;
  json?: boolean;
}

export function registerJobDiff(job: Command, cli: Cli): void {
  const command = job
    .command("diff")
    .description("print what a job changed, as a unified diff")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id")
    .option("--stat", "print the files and their figures instead");
  withJson(command).action((project: string, id: string, options: DiffOptions) => diffJob(cli, project, id, options));
}

async function diffJob(cli: Cli, project: string, id: string, options: DiffOptions): Promise<void> {
  showDiff(cli, await jobsOf(cli, project).diff(id, { signal: cli.signal }), options);
}

export function showDiff(cli: Cli, found: JobDiff, options: DiffOptions): void {
  if (options.json) printResult(cli, options, found, "");
  else if (found.diff === "") say(cli, options, "Nothing changed.");
  else if (options.stat) printResult(cli, options, found, statOf(found));
  // In a pipe the bytes are what `git apply` reads; on a terminal nothing in them may move the cursor.
  else cli.stdout.write(cli.stdout.isTTY ? found.diff.split("\n").map(paint).join("\n") : found.diff);
}

function statOf({ files }: JobDiff): string {
  const rows = files.map(({ path, change, additions, deletions }) => [path, change, `+${additions}`, `−${deletions}`]);
  return table([["PATH", "CHANGE", "ADDED", "REMOVED"], ...rows]);
}

function paint(line: string): string {
  const shown = safeText(line.replaceAll("\t", "    "));
  if (/^(diff |index |--- |\+\+\+ |new |deleted |similarity |rename )/.test(line)) return styleText("bold", shown);
  if (line.startsWith("@@")) return styleText("cyan", shown);
  if (line.startsWith("+")) return styleText("green", shown);
  return line.startsWith("-") ? styleText("red", shown) : shown;
}
