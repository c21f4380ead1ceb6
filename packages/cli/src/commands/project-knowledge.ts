import type { Command } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { projectIdOf, projectWords, splitWords, withProject } from "./jobs-of.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";
import { readSecret } from "./secrets.ts";

interface AddOptions extends AdminOptions {
  url?: string;
  program?: string;
  tokenEnv?: string;
}

interface ConnectOptions extends AdminOptions {
  clientId?: string;
  clientSecretEnv?: string;
}

interface AllowOptions extends AdminOptions {
  notMarked?: boolean;
}

type Word = string | undefined;

/** Servers of the Model Context Protocol that a project's jobs may ask. */
export function registerProjectKnowledge(project: Command, cli: Cli): void {
  const knowledge = project.command("knowledge").description("MCP servers that the project's jobs may ask");
  knowledge.helpCommand(false);
  const server = ["name", "the server's name"] as const;
  const tool = ["tool", "the tool's name"] as const;

  const add = withProject(knowledge.command("add").description("add an MCP server (10 at most)"), [server])
    .option("--url <url>", "its address (Streamable HTTP)")
    .option("--program <name>", "instead: a local program that EMEND_KNOWLEDGE_PROGRAMS names")
    .option("--token-env <variable>", "variable that holds a token that may read there (default: none is sent)");
  withJson(withData(add)).action((first: Word, second: Word, options: AddOptions) => {
    const { project: given, rest } = splitWords([first, second], ["name"]);
    return addServer(cli, given, rest[0] as string, options);
  });

  const connect = withProject(
    knowledge.command("connect").description("print an address where a person gives Emend access by OAuth"),
    [server],
  )
    .option("--client-id <id>", "Emend's id at the service (default: Emend registers itself)")
    .option("--client-secret-env <variable>", "variable that holds its secret there");
  withJson(withData(connect)).action((first: Word, second: Word, options: ConnectOptions) => {
    const { project: given, rest } = splitWords([first, second], ["name"]);
    return connectServer(cli, given, rest[0] as string, options);
  });

  const list = knowledge
    .command("list")
    .description("list the servers with their allowed tools")
    .argument("[project]", projectWords);
  withJson(withData(list)).action((given: Word, options: AdminOptions) => listServers(cli, given, options));

  const tools = withProject(knowledge.command("tools").description("ask a server which tools it has"), [server]);
  withJson(withData(tools)).action((first: Word, second: Word, options: AdminOptions) => {
    const { project: given, rest } = splitWords([first, second], ["name"]);
    return listTools(cli, given, rest[0] as string, options);
  });

  const allow = withProject(
    knowledge.command("allow").description("let jobs call a tool, as the server describes it now"),
    [server, tool],
  ).option("--not-marked", "also if the server does not mark the tool as read-only");
  withJson(withData(allow)).action((first: Word, second: Word, third: Word, options: AllowOptions) => {
    const { project: given, rest } = splitWords([first, second, third], ["name", "tool"]);
    return allowTool(cli, given, rest as [string, string], options);
  });

  const deny = withProject(knowledge.command("deny").description("let jobs call a tool no longer"), [server, tool]);
  withJson(withData(deny)).action((first: Word, second: Word, third: Word, options: AdminOptions) => {
    const { project: given, rest } = splitWords([first, second, third], ["name", "tool"]);
    return denyTool(cli, given, rest as [string, string], options);
  });

  const remove = withProject(knowledge.command("remove").description("remove a server and its tools"), [server]);
  withJson(withData(remove)).action((first: Word, second: Word, options: AdminOptions) => {
    const { project: given, rest } = splitWords([first, second], ["name"]);
    return removeServer(cli, given, rest[0] as string, options);
  });
}

async function addServer(cli: Cli, given: Word, name: string, options: AddOptions): Promise<void> {
  const { tokenEnv, program } = options;
  const url = options.url ?? (program === undefined ? undefined : `program:${program}`);
  if (url === undefined || (options.url !== undefined && program !== undefined)) {
    throw new CliError("usage", "give --url or --program");
  }
  if (program !== undefined && tokenEnv !== undefined) throw new CliError("usage", "--token-env is for --url");
  const credential = await readSecret(cli, "the token", { env: tokenEnv });
  const added = await withAdmin(cli, options, async (admin) =>
    admin.knowledge.add({ projectId: await projectIdOf(cli, admin, given), name, url, credential }),
  );
  printResult(cli, options, added, added.name);
  say(cli, options, `Added. Jobs ask it once you allow its tools: emend project knowledge tools ${name}`);
  if (credential === null && program === undefined)
    say(cli, options, `If it uses OAuth, first: emend project knowledge connect ${name}`);
}

async function connectServer(cli: Cli, given: Word, name: string, options: ConnectOptions): Promise<void> {
  const { clientId, clientSecretEnv } = options;
  if (clientSecretEnv !== undefined && clientId === undefined) {
    throw new CliError("usage", "--client-secret-env needs --client-id");
  }
  const secret = await readSecret(cli, "the client's secret", { env: clientSecretEnv });
  const asked = await withAdmin(cli, options, async (admin) =>
    admin.knowledge.connect({
      projectId: await projectIdOf(cli, admin, given),
      name,
      ...(clientId !== undefined && { client: { id: clientId, secret } }),
    }),
  );
  printResult(cli, options, asked, asked.url);
  say(cli, options, "Open this address in a browser within 15 minutes and allow the access. It works once.");
}

async function listServers(cli: Cli, given: Word, options: AdminOptions): Promise<void> {
  const found = await withAdmin(cli, options, async (admin) =>
    admin.knowledge.list(await projectIdOf(cli, admin, given)),
  );
  if (found.length === 0) say(cli, options, "No knowledge servers yet.");
  if (found.length === 0 && !options.json) return;
  const rows = found.map(({ name, access, tools, url }) => [
    name,
    access,
    tools.map((tool) => tool.name).join(", ") || "(none)",
    url,
  ]);
  printResult(cli, options, found, table([["NAME", "ACCESS", "ALLOWED TOOLS", "URL"], ...rows]));
}

async function listTools(cli: Cli, given: Word, name: string, options: AdminOptions): Promise<void> {
  const found = await withAdmin(cli, options, async (admin) =>
    admin.knowledge.offered({ projectId: await projectIdOf(cli, admin, given), name }),
  );
  const rows = found.map((tool) => [
    tool.name,
    tool.isReadOnly ? "yes" : "no",
    tool.state,
    firstLine(tool.description),
  ]);
  printResult(cli, options, found, table([["TOOL", "READ-ONLY", "STATE", "DESCRIPTION"], ...rows]));
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? "").slice(0, 100);
}

async function allowTool(cli: Cli, given: Word, words: [string, string], options: AllowOptions): Promise<void> {
  const [name, tool] = words;
  const allowed = await withAdmin(cli, options, async (admin) =>
    admin.knowledge.allow({
      projectId: await projectIdOf(cli, admin, given),
      name,
      tool,
      mayWrite: options.notMarked === true,
    }),
  );
  printResult(cli, options, allowed, `Allowed ${tool} of ${name}.`);
}

async function denyTool(cli: Cli, given: Word, words: [string, string], options: AdminOptions): Promise<void> {
  const [name, tool] = words;
  const isDenied = await withAdmin(cli, options, async (admin) =>
    admin.knowledge.deny({ projectId: await projectIdOf(cli, admin, given), name, tool }),
  );
  if (!isDenied) throw new CliError("refused", `${tool} of ${name} was not allowed`);
  printResult(cli, options, { name, tool, denied: true }, `Jobs no longer call ${tool} of ${name}.`);
}

async function removeServer(cli: Cli, given: Word, name: string, options: AdminOptions): Promise<void> {
  const isRemoved = await withAdmin(cli, options, async (admin) =>
    admin.knowledge.remove({ projectId: await projectIdOf(cli, admin, given), name }),
  );
  if (!isRemoved) throw new CliError("refused", `the project has no knowledge server ${name}`);
  printResult(cli, options, { name, removed: true }, `Removed ${name}.`);
}
