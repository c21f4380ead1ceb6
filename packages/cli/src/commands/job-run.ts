import type { JobRun } from "@emend/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult } from "../output.ts";
import { markdownLines } from "../terminal/markdown-lines.ts";
import { safeText } from "../terminal/safe-text.ts";
import { jobsOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";

export function registerJobRun(job: Command, cli: Cli): void {
  const command = job
    .command("run")
    .description("what a job does or did: phase, failure, steps, cost, findings")
    .argument("<project>", "the project's id")
    .argument("<id>", "the job's id");
  withJson(command).action((project: string, id: string, options: { json?: boolean }) =>
    showRun(cli, project, id, options),
  );
}

async function showRun(cli: Cli, project: string, id: string, options: { json?: boolean }): Promise<void> {
  const run = await jobsOf(cli, project).run(id, { signal: cli.signal });
  printResult(cli, options, run, runText(run));
}

function runText(run: JobRun): string {
  const { failure, findings, pullRequest, usage } = run;
  const tokens = `${usage.inputTokens} in, ${usage.outputTokens} out`;
  const rows: [string, string | null][] = [
    ["status", run.status === "active" ? `active, ${run.phase}` : run.status],
    ["failure", failure?.code ?? null],
    ["limit", run.limitReached],
    ["model", run.model],
    ["steps", `${run.steps.count}, ${tokens} tokens, $${usage.costUsd.toFixed(2)}`],
    ["findings", findings && `${findings.before} before, ${findings.after} after, ${findings.introducedCount} new`],
    ["not checked", findings?.links?.unjudged ? `${findings.links.unjudged} of ${findings.links.total} links` : null],
    ["pull request", pullRequest && `${pullRequest.url} (${pullRequest.draft ? "draft, " : ""}${pullRequest.state})`],
  ];
  const head = rows.filter(([, value]) => value !== null).map(([name, value]) => `${name.padEnd(14)}${value}`);
  const denied = run.violations.map(({ path, rule }) => `denied        ${path}: ${rule}`);
  const words = [failure?.message, run.title, run.summary].filter((text) => typeof text === "string" && text !== "");
  const paragraphs = words.flatMap((text) => ["", ...markdownLines(text ?? "", 92)]);
  return [...head, ...denied, ...paragraphs].map(safeText).join("\n");
}
