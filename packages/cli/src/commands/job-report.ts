import type { JobReport } from "@emend/server";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult } from "../output.ts";
import { markdownLines } from "../terminal/markdown-lines.ts";
import { safeText } from "../terminal/safe-text.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface ReportOptions {
  data?: string;
  json?: boolean;
}

/** The wire's nine fields do not say why a job failed or what it did; the installation's database does. */
export function registerJobReport(job: Command, cli: Cli): void {
  const command = job
    .command("report")
    .description("what a job did, or why it failed; on the server's machine")
    .argument("<id>", "the job's id");
  withJson(withData(command)).action((id: string, options: ReportOptions) => reportJob(cli, id, options));
}

async function reportJob(cli: Cli, id: string, options: ReportOptions): Promise<void> {
  const report = await withAdmin(cli, options, (admin) => admin.jobReport(id));
  printResult(cli, options, report, reportText(report));
}

function reportText(report: JobReport): string {
  const { status, phase, failure, findings } = report;
  const lines = [`status        ${status === "active" ? `active, ${phase}` : status}`, `model         ${report.model}`];
  if (failure) lines.push(`failure       ${failure.code}`, ...markdownLines(failure.message, 92));
  if (findings) lines.push(`findings      ${findings.before} before, ${findings.after} after`);
  if (report.changedFiles > 0) lines.push(`files         ${report.changedFiles}`);
  if (report.title) lines.push("", report.title);
  if (report.summary) lines.push("", ...markdownLines(report.summary, 92));
  return lines.map(safeText).join("\n");
}
