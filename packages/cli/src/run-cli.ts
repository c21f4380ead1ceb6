import { EmendError } from "@emend/sdk";
import { Command, CommanderError, type ErrorOptions, type Option, type ParseOptionsResult } from "commander";
import { registerCheckCommand } from "./check/check-command.ts";
import { asTyped, type Cli, CliError, exitCodes, wholeVersion } from "./cli.ts";
import {
  registerAutomationList,
  registerAutomationRun,
  registerAutomationShow,
  registerAutomationState,
} from "./commands/automation.ts";
import { registerAutomationAdd, registerAutomationEdit } from "./commands/automation-add.ts";
import { registerBackup, registerRestore } from "./commands/backup.ts";
import { registerBudget } from "./commands/budget.ts";
import { registerClaimsAdd, registerClaimsEnd, registerClaimsList } from "./commands/claims.ts";
import { registerCompletion } from "./commands/completion.ts";
import { registerDemo } from "./commands/demo.ts";
import { registerJobErase, registerProjectErase, registerUserErase } from "./commands/erase.ts";
import {
  registerJobDiff,
  registerJobGet,
  registerJobList,
  registerJobReport,
  registerJobWatch,
} from "./commands/job-read.ts";
import {
  registerJobApprove,
  registerJobArchive,
  registerJobCancel,
  registerJobCreate,
  registerJobDecline,
  registerJobMessage,
  registerJobPreview,
  registerJobPublish,
  registerJobRetry,
  registerJobRun,
} from "./commands/job-start.ts";
import { registerKeyCreate, registerKeyList, registerKeyRevoke } from "./commands/key.ts";
import { registerLogin, registerProfile } from "./commands/login.ts";
import { registerModelKey } from "./commands/model-key.ts";
import {
  registerProjectDoctor,
  registerProjectList,
  registerProjectRemove,
  registerProjectSet,
  registerProjectSettings,
  registerProjectShow,
} from "./commands/project.ts";
import { registerProjectAdd } from "./commands/project-add.ts";
import { registerProjectAllowed } from "./commands/project-allowed.ts";
import { registerProjectContext } from "./commands/project-context.ts";
import { registerProjectKnowledge } from "./commands/project-knowledge.ts";
import { registerSecretsRotate } from "./commands/secrets.ts";
import { registerServe } from "./commands/serve.ts";
import { registerLsp, registerMcp } from "./commands/stdio-servers.ts";
import {
  registerUserChat,
  registerUserDirectory,
  registerUserInvite,
  registerUserLink,
  registerUserList,
  registerUserReset,
  registerUserResetFactor,
} from "./commands/user.ts";
import { registerWebhook } from "./commands/webhook.ts";
import { registerDoctor } from "./doctor/examine.ts";
import { safeText } from "./terminal/format.ts";

/** Runs one command line and returns the exit code. */
export async function runCli(cli: Cli, args: readonly string[]): Promise<number> {
  try {
    await buildProgram(cli).parseAsync(args, { from: "user" });
    return exitCodes.done;
  } catch (error) {
    // Commander has printed its own message. Help and version end this way too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    // After Ctrl-C, any failure is caused by it, because the terminal interrupts child processes too. But a command may
    // have its own message.
    const isBroken = cli.signal.aborted && !(error instanceof CliError);
    const { message, exitCode } = describeError(isBroken ? cli.signal.reason : error, cli.env);
    if (message !== "") cli.stderr.write(`emend: ${asTyped(message)}\n`);
    if (cli.env.EMEND_DEBUG && error instanceof Error) cli.stderr.write(`${error.stack}\n${stackOfCause(error)}`);
    return exitCode;
  }
}

function stackOfCause(error: Error): string {
  return error.cause instanceof Error ? `because of ${error.cause.stack}\n${stackOfCause(error.cause)}` : "";
}

interface Description {
  message: string;
  exitCode: number;
}

/** Any other code means refused. */
const exitCodeOf = new Map<string, number>([
  // Wrong usage: it can never work as typed.
  ...["invalid_request", "payload_too_large"].map((code) => [code, exitCodes.usage] as const),
  // The service is unreachable or broken.
  ...["network", "timeout", "unavailable", "invalid_response", "internal"].map(
    (code) => [code, exitCodes.fault] as const,
  ),
  ...["forge_unavailable", "repository_unavailable", "model_unavailable"].map(
    (code) => [code, exitCodes.fault] as const,
  ),
]);

/** The error in one line (one per setting), and its exit code. */
export function describeError(error: unknown, env: NodeJS.ProcessEnv): Description {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof EmendError) {
    return { message: oneLine(adviceFor(error, env)), exitCode: exitCodeOf.get(error.kind) ?? exitCodes.refused };
  }
  if (!(error instanceof Error)) return { message: oneLine(String(error)), exitCode: exitCodes.fault };
  if (error.name === "AbortError") return { message: "interrupted", exitCode: exitCodes.interrupted };
  // The server's errors are recognized by name: importing its classes would load the whole server for every command.
  if (error.name === "ConfigError") {
    return { message: error.message.replaceAll("\n", "\nemend: "), exitCode: exitCodes.usage };
  }
  if (error.name === "Fault") return describeFault(error);
  return { message: `${oneLine(error.message)} (EMEND_DEBUG=1 shows more)`, exitCode: exitCodes.fault };
}

function describeFault(error: Error): Description {
  // Not the public message: the person at the console runs the installation and needs the reason.
  return { message: oneLine(error.message), exitCode: exitCodeOf.get(codeOf(error)) ?? exitCodes.refused };
}

function codeOf(error: Error): string {
  // A forge's refusal is reported as the request's error, with the forge's response as its cause.
  const { cause } = error;
  if (cause instanceof Error && "code" in cause && cause.code === "forge_rejected") return cause.code;
  return "code" in error ? String(error.code) : "";
}

function adviceFor(error: EmendError, env: NodeJS.ProcessEnv): string {
  // The library's term, which users of the CLI do not know.
  const message = error.message.replaceAll("baseUrl", env.EMEND_URL ? "EMEND_URL" : "the server's address");
  switch (error.kind) {
    case "unauthorized": {
      const key = env.EMEND_API_KEY ? "EMEND_API_KEY" : "the key of your login";
      return `${message} (is ${key} right, and not expired or revoked?)`;
    }
    case "forbidden":
      return `${message} (the key is read-only: make one with \`emend key create\`)`;
    case "not_found":
      return `${message} (is the id right, and does the key cover its project?)`;
    case "rate_limited":
      if (error.code === "budget_exceeded") return message;
      return `${message} (again in ${Math.ceil((error.retryAfterMs ?? 0) / 1000)} s)`;
    case "network":
      if (isUntrusted(error)) return `${message} (for a certificate authority of your own, set EMEND_CA_FILE)`;
      return `${message} (is the server up? \`emend doctor\` looks)`;
    case "timeout":
    case "unavailable":
      return `${message} (is the server up? \`emend doctor\` looks)`;
    default:
      return message;
  }
}

/** OpenSSL's and Node's codes for a certificate that is not trusted. `fetch` hides them some causes below. */
function isUntrusted(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return /CERT|VERIFY/.test(code) || isUntrusted(error.cause);
}

/** Safe for a terminal and for a log: servers, forges and git contribute to it. */
function oneLine(text: string): string {
  return safeText(text.trim().replaceAll(/\s*[\r\n]+\s*/g, "; "));
}

/** The whole program, one file per command. */
export function buildProgram(cli: Cli): Command {
  const program = new ProseCommand("emend")
    .description("Turns an instruction into a pull request on your documentation.")
    .version(wholeVersion(), "-V, --version", "print the version, the commit and the schema of the database")
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.stdout.write(text),
      writeErr: (text) => cli.stderr.write(text),
      outputError: (text, write) => write(text),
    });

  registerServe(program, cli);
  registerDemo(program, cli);

  const project = group(program, "project", "the docs repositories that Emend works on");
  registerProjectAdd(project, cli);
  registerProjectList(project, cli);
  registerProjectShow(project, cli);
  registerProjectSet(project, cli);
  registerProjectSettings(project, cli);
  registerProjectRemove(project, cli);
  registerProjectErase(project, cli);
  registerProjectDoctor(project, cli);
  registerProjectContext(project, cli);
  registerProjectAllowed(project, cli);
  registerProjectKnowledge(project, cli);

  const key = group(program, "key", "API keys");
  registerKeyCreate(key, cli);
  registerKeyList(key, cli);
  registerKeyRevoke(key, cli);

  const model = group(program, "model", "the language models that jobs use");
  registerModelKey(group(model, "key", "a project's own keys for them"), cli);
  registerSecretsRotate(group(program, "secrets", "what seals stored credentials"), cli);

  const user = group(program, "user", "people in a browser");
  registerUserLink(user, cli);
  registerUserList(user, cli);
  registerUserInvite(user, cli);
  registerUserReset(user, cli);
  registerUserResetFactor(user, cli);
  registerUserErase(user, cli);
  registerUserChat(user, cli);
  registerUserDirectory(user, cli);

  const automation = group(program, "automation", "jobs that start on a schedule, after a push or manually");
  registerAutomationAdd(automation, cli);
  registerAutomationList(automation, cli);
  registerAutomationShow(automation, cli);
  registerAutomationRun(automation, cli);
  registerAutomationEdit(automation, cli);
  registerAutomationState(automation, cli);

  const webhook = group(program, "webhook", "webhooks for a project's events");
  registerWebhook(webhook, cli);
  registerBudget(program, cli);

  registerLogin(program, cli);
  registerProfile(group(program, "profile", "the servers that you are logged in to"), cli);

  const job = group(program, "job", "jobs of a running server (emend login, or EMEND_URL and EMEND_API_KEY)");
  registerJobCreate(job, cli);
  registerJobPreview(job, cli);
  registerJobGet(job, cli);
  registerJobList(job, cli);
  registerJobWatch(job, cli);
  registerJobRun(job, cli);
  registerJobDiff(job, cli);
  registerJobMessage(job, cli);
  registerJobCancel(job, cli);
  registerJobRetry(job, cli);
  registerJobPublish(job, cli);
  registerJobApprove(job, cli);
  registerJobDecline(job, cli);
  registerJobArchive(job, cli);
  registerJobReport(job, cli);
  registerJobErase(job, cli);
  const claims = group(program, "claims", "what pages rely on, on a running server");
  registerClaimsList(claims, cli);
  registerClaimsAdd(claims, cli);
  registerClaimsEnd(claims, cli);

  registerCheckCommand(program, cli);
  registerLsp(program, cli);
  registerMcp(program, cli);
  registerDoctor(program, cli);
  registerBackup(program, cli);
  registerRestore(program, cli);
  registerCompletion(program, cli);
  return program;
}

function group(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).helpCommand(false);
}

/** A character that no argument can contain. */
const mark = "\u0000";
/** `- list item`, `--- front matter`, `-5 degrees is cold`: no option looks like that. */
const prose = /^-(-+|[^-\s=]*)\s/;

/** A command whose arguments may be prose that starts with a dash, and whose errors fit in one line. */
class ProseCommand extends Command {
  override createCommand(name?: string): Command {
    return new ProseCommand(name);
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    const { operands, unknown } = super.parseOptions(this.#markProse(args));
    return { operands: operands.map(unmark), unknown: unknown.map(unmark) };
  }

  override error(message: string, options?: ErrorOptions): never {
    const words = message
      .trim()
      .replace(/^error: /, "")
      .replace(/^option '(?:-\w, )?(--[\w-]+).*?' argument '(.*)' is invalid\./s, '$1 cannot be "$2".')
      .replace(/^command-argument value '(.*)' is invalid for argument '([\w-]+)'\./s, '$2 cannot be "$1".')
      .replace(/\s*\n\(Did you mean (.+)\?\)$/s, ": did you mean $1?");
    const hint =
      words.endsWith("?") || this.registeredArguments.length === 0 ? "" : hintOf(options?.code, this.options);
    return super.error(`emend: ${words}${hint} (\`${pathOf(this)} --help\` shows how)`, options);
  }

  /** Hides the dash from the parser, except if an option takes the word as its value. */
  #markProse(args: readonly string[]): string[] {
    const marked: string[] = [];
    let taking: "none" | "one" | "many" = "none";
    for (const arg of args) {
      if (arg === "--") return [...marked, ...args.slice(marked.length)];
      const option = this.options.find(({ long, short }) => arg === long || arg === short);
      marked.push(taking === "none" && prose.test(arg) ? `${mark}${arg}` : arg);
      if (option) taking = valuesOf(option);
      else if (taking === "one") taking = "none";
    }
    return marked;
  }
}

function valuesOf({ required, optional, variadic }: Option): "none" | "one" | "many" {
  if (!required && !optional) return "none";
  return variadic ? "many" : "one";
}

/** What people who type prose forget, and how a project is named where it is no argument. */
function hintOf(code: string | undefined, options: readonly Option[]): string {
  if (code === "commander.unknownOption") return "; put -- before a text that begins with a dash";
  if (code !== "commander.excessArguments") return "";
  if (options.some(({ long }) => long === "--project")) return " Name the project with --project.";
  return " Put quotation marks around a text of several words.";
}

function unmark(arg: string): string {
  return arg.startsWith(mark) ? arg.slice(mark.length) : arg;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
