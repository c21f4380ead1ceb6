import type { AgentJob } from "@emend/sdk";
import type { Cli } from "../cli.ts";
import { printResult } from "../output.ts";
import { safeText } from "../terminal/format.ts";

export function printJob(cli: Cli, options: { json?: boolean }, job: AgentJob): void {
  const lines = [
    ["id", job.id],
    ["status", job.status],
    ["pull request", job.prLink ?? "none"],
    ["model", job.model],
    ["repository", job.source.repository],
    ["branch", job.source.ref ?? "none"],
    ["created", job.createdAt],
    ...(job.archivedAt ? [["archived", job.archivedAt]] : []),
  ];
  printResult(
    cli,
    options,
    job,
    lines.map(([name = "", value = ""]) => `${name.padEnd(14)}${safeText(value)}`).join("\n"),
  );
}
