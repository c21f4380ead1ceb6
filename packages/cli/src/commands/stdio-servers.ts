import { resolve } from "node:path";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { version } from "../cli.ts";
import { resolveAccess } from "../profile/profile-file.ts";
import { clientOf } from "./jobs-of.ts";

interface McpOptions {
  project?: string;
}

export function registerMcp(program: Command, cli: Cli): void {
  program
    .command("mcp")
    .description("serve Emend's tools to an agent over standard input and output (Model Context Protocol)")
    .option("--project <id>", "the project of calls that name none (default: EMEND_PROJECT, or the only project)")
    .action((options: McpOptions) => serveMcp(cli, options));
}

async function serveMcp(cli: Cli, options: McpOptions): Promise<void> {
  const project = options.project ?? cli.env.EMEND_PROJECT;
  // Checked now and not at the first call, so that a client shows why its server did not start.
  const client = clientOf(cli, resolveAccess(cli));
  const { serveStdio } = await import("@emend/mcp");
  const deps = {
    jobs: (projectId: string) => client.jobs(projectId),
    claims: (projectId: string) => client.claims(projectId),
    automations: (projectId: string) => client.automations(projectId),
    gates: (projectId: string) => client.gates(projectId),
    health: (projectId: string, more: { signal: AbortSignal }) => client.health(projectId, more),
    projects: (signal: AbortSignal) => client.projects({ signal }),
    checkFolder: (dir: string, sources: readonly string[], signal: AbortSignal) =>
      checkFolder(cli, dir, sources, signal),
    ...(project ? { project } : {}),
  };
  await serveStdio(deps, { input: cli.stdin, output: cli.stdout }, cli.signal);
}

async function checkFolder(
  cli: Cli,
  dir: string,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (sources.length > 0) {
    const { inspectFolder } = await import("../check/inspect-folder.ts");
    const deps = { cache: undefined, stderr: cli.stderr, signal };
    const input = { base: null, docsDir: "", isMdxAsked: false, sources };
    return (await inspectFolder(deps, resolve(dir), input)).findings;
  }
  const { checkSite, folderTree, openSite } = await import("@emend/site");
  return checkSite(await openSite(folderTree(resolve(dir)), { signal }));
}

export function registerLsp(program: Command, cli: Cli): void {
  program
    .command("lsp")
    .description("serve an editor over standard input and output (Language Server Protocol)")
    .option("--stdio", "what many editors add; there is no other way")
    .action(async () => {
      const { serveLsp } = await import("@emend/lsp");
      await serveLsp({ input: cli.stdin, output: cli.stdout }, version, cli.signal);
    });
}
