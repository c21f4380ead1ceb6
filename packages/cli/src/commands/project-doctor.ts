import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface DoctorOptions {
  data?: string;
  json?: boolean;
}

const marks = { ok: "✓", problem: "✗", unknown: "?" } as const;

export function registerProjectDoctor(project: Command, cli: Cli): void {
  const command = project
    .command("doctor")
    .description("look whether the project's forge lets Emend do its work")
    .argument("<id>", "the project's id");
  withJson(withData(command)).action((id: string, options: DoctorOptions) => diagnose(cli, id, options));
}

async function diagnose(cli: Cli, id: string, options: DoctorOptions): Promise<void> {
  const found = await withAdmin(cli, options, (admin) => admin.diagnoseProject(id));
  const lines = found.checks.map(({ name, verdict, words }) => `${marks[verdict]} ${name}: ${words}`);
  printResult(cli, options, found, [found.repositoryUrl, ...lines].join("\n"));
  if (found.webhook) {
    say(cli, options, `Webhook, if you want comments heard at once: ${found.webhook.url}`);
    say(cli, options, `Its secret: ${found.webhook.secret}`);
  }
  const bad = found.checks.filter(({ verdict }) => verdict === "problem");
  if (bad.length > 0) throw new CliError("fault", `${bad.map(({ name }) => name).join(", ")}: see above what to do`);
}
