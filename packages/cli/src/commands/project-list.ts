import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { table } from "../terminal/table.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface ListOptions {
  data?: string;
  json?: boolean;
}

export function registerProjectList(project: Command, cli: Cli): void {
  const command = project.command("list").description("list the projects");
  withJson(withData(command)).action((options: ListOptions) => listProjects(cli, options));
}

async function listProjects(cli: Cli, options: ListOptions): Promise<void> {
  const projects = await withAdmin(cli, options, (admin) => admin.listProjects());
  if (projects.length === 0)
    say(cli, options, "No projects yet. Add one: emend project add NAME --forge local --repo PATH");
  if (projects.length === 0 && !options.json) return;
  const rows = projects.map((project) => [
    project.id,
    project.name,
    project.forge,
    project.baseRef ?? "(default)",
    project.docsDir || "/",
    project.repositoryUrl,
  ]);
  const shown = projects.map(({ id, name, forge, repositoryUrl, baseRef, docsDir, createdAt }) => {
    return { id, name, forge, repositoryUrl, baseRef, docsDir, createdAt };
  });
  printResult(cli, options, shown, table([["ID", "NAME", "FORGE", "BASE", "DOCS", "REPOSITORY"], ...rows]));
}
