import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import type { Admin, Config, isMade, openAdmin, ServiceTrials } from "@emend/server";
import type { Command } from "commander";
import { asTyped, type Cli, CliError, printResult } from "../cli.ts";
import { trustCaFile } from "../commands/jobs-of.ts";
import { type AdminOptions, withData, withJson } from "../commands/options.ts";
import { modelHint } from "../model-hint.ts";
import { safeText } from "../terminal/format.ts";
import { type Examination, examineClient, examineServer, hasOnlyClientSettings } from "./examine-client.ts";

/** Checks everything once and changes nothing. */
async function examine(cli: Cli, options: { data?: string }): Promise<readonly Examination[]> {
  const node: Examination = { name: "node", verdict: "good", detail: process.version };
  const { isMade, openAdmin, readConfig, tryDatabases, tryFolderOf, tryServices } = await import("@emend/server");
  // Log lines would go to standard output, which is for the result.
  const env = { ...cli.env, EMEND_LOG_LEVEL: "silent" };
  const { config, problems } = readConfig(env, options.data === undefined ? {} : { dataDir: resolve(options.data) });
  if (options.data === undefined && hasOnlyClientSettings(cli, config.unknownSettings) && !isMade(config)) {
    return [node, ...(await examineClient(cli))];
  }
  const git = await examineGit();
  if (!problems.some((problem) => problem.startsWith("EMEND_CA_FILE"))) trustCaFile(cli.env);
  // Checks that depend on an invalid setting are skipped.
  const unless = (names: RegExp, name: string, look: () => Promise<readonly Seen[]>): Promise<readonly Seen[]> =>
    problems.some((problem) => names.test(problem))
      ? Promise.resolve([{ name, verdict: "note", detail: "not checked: fix its settings first" }])
      : look();
  // Opening it without the right secret would create one.
  const database = await unless(/EMEND_(DATABASE_URL|SECRET|DATA_DIR)|--data/, "database", async () => [
    await examineDatabase({ openAdmin, isMade }, config),
  ]);
  const { serverUrl, told = null } = database[0] ?? {};
  const isOpen = database[0]?.verdict === "good";
  // Behind a proxy, the server may answer at its own address while its public URL does not.
  const near = config.publicUrl === null ? serverUrl : undefined;
  const url =
    cli.env.EMEND_URL ||
    near ||
    `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${config.port}`;
  const server = await unless(/EMEND_(HOST|PORT|PUBLIC_URL)/, "server", async () => [
    await examineServer(url, cli.signal),
  ]);
  const isServed = server.some(({ verdict }) => verdict === "good");
  const settings: Examination[] = problems.map((detail) => ({ name: "settings", verdict: "bad", detail }));
  const good: Examination = {
    name: "settings",
    verdict: "good",
    detail: `role ${config.role}${config.cell === null ? "" : `, cell ${config.cell}`}; serve listens on ${config.host}:${config.port} unless told otherwise`,
  };
  return [
    node,
    git,
    ...(settings.length === 0 ? [good] : settings),
    await examineOpenFiles(config.concurrency),
    ...config.unknownSettings.map(
      ({ variable, nearest }): Examination => ({
        name: "settings",
        verdict: "note",
        detail: `${variable} is set, and nothing reads it`,
        ...(nearest && { advice: `Was ${nearest} meant?` }),
      }),
    ),
    ...(await unless(/EMEND_DATA_DIR|--data/, "data", async () => [
      await examineFolder("data", config.dataDir, await tryFolderOf(config.dataDir)),
    ])),
    ...(config.forgeDir === null
      ? []
      : await unless(/EMEND_FORGE_DIR/, "forge", async () => [
          await examineFolder("forge", config.forgeDir ?? "", await tryFolderOf(config.forgeDir ?? "")),
        ])),
    ...database.flatMap(({ serverUrl: _, told: __, budgets = [], ...seen }) => [seen, ...budgets]),
    ...(isOpen ? (await tryDatabases(config)).map(examinePlace) : []),
    ...server,
    ...(await unless(aboutServices, "model", async () =>
      examineServices(await tryServices(config), { hint: await modelHint(cli.env), by: "" }),
    )),
    ...(told
      ? examineServices(told, { hint: null, by: `, tried by the worker on ${told.host}` }).map((seen) => ({
          ...seen,
          name: "worker",
        }))
      : []),
    ...(await unless(/EMEND_PUBLIC_URL/, "public url", async () => [
      await examinePublicUrl(config.publicUrl, { isServed, signal: cli.signal }),
    ])),
  ];
}

type Told = Awaited<ReturnType<Admin["tryServices"]>>;
type Seen = Examination & { serverUrl?: string; budgets?: readonly Examination[]; told?: Told };

/** The settings that models and the mail server depend on. */
const aboutServices =
  /MODEL|_BASE_URL|_API_KEY|RUNNER|PROXY|EMEND_CA|EMEND_SMTP|EMEND_SAML|EMEND_SLACK|EMEND_MATTERMOST/;

async function examinePublicUrl(
  publicUrl: string | null,
  { isServed, signal }: { isServed: boolean; signal: AbortSignal },
): Promise<Examination> {
  const name = "public url";
  if (publicUrl) {
    const seen = await examineServer(publicUrl, signal);
    if (seen.verdict === "good") return { ...seen, name };
    const advice = "Check DNS, the proxy and EMEND_PUBLIC_URL: links in pull requests begin with it.";
    const detail = seen.verdict === "note" ? `nothing answers at ${publicUrl}` : seen.detail;
    // Before the first start nothing answers there.
    return {
      name,
      verdict: isServed || seen.verdict === "bad" ? "bad" : "note",
      detail,
      advice: seen.advice ?? advice,
    };
  }
  const detail = "EMEND_PUBLIC_URL is not set: links name the address that the server listens on";
  return { name, verdict: "note", detail };
}

const freeBytesMin = 1024 ** 3;

async function examineFolder(name: "data" | "forge", dir: string, problem: string | null): Promise<Examination> {
  if (problem !== null) {
    const advice = `Set EMEND_${name.toUpperCase()}_DIR to a folder that you can write to.`;
    return { name, verdict: "bad", detail: problem, advice: problem.includes("is full") ? makeRoom : advice };
  }
  const exists = existsSync(dir);
  const { bavail, bsize } = await statfs(exists ? dir : nearestParent(dir));
  const freeBytes = bavail * bsize;
  const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`;
  if (freeBytes < freeBytesMin) return { name, verdict: "bad", detail: `${dir}, ${free}`, advice: makeRoom };
  if (!exists) return { name, verdict: "note", detail: `${dir} is not there yet; serve makes it (${free})` };
  return { name, verdict: "good", detail: `${dir}, ${free}` };
}

const makeRoom = "Make room: a database on a full disk stops.";

function nearestParent(path: string): string {
  return existsSync(path) ? path : nearestParent(dirname(path));
}

function examinePlace({ name, problem }: { name: string; problem: string | null }): Examination {
  return { name, verdict: problem === null ? "good" : "bad", detail: problem ?? "the database answers" };
}

/** Queries the database. An embedded one that does not exist is not created. */
async function examineDatabase(
  deps: { openAdmin: typeof openAdmin; isMade: typeof isMade },
  config: Config,
): Promise<Seen> {
  const name = "database";
  const what = config.databaseUrl === null ? "embedded Postgres" : `Postgres at ${hostOf(config.databaseUrl)}`;
  if (!deps.isMade(config)) {
    return { name, verdict: "bad", detail: `${what}: nothing here yet`, advice: "`emend serve` makes it." };
  }
  try {
    const admin = await deps.openAdmin(config, { migrates: false, checksSecret: false });
    try {
      const projects = await admin.listProjects();
      if (!(await admin.isSecretRight())) return { name, verdict: "bad", ...wrongSecret(config, what) };
      const detail = `${what} answers; projects: ${projects.length}`;
      const budgets = (await admin.listBudgets()).map(examineBudget);
      // Jobs use the settings and the network of a running worker, which may differ from those of this command.
      const told = await admin.tryServices();
      return { name, verdict: "good", detail, serverUrl: await admin.url(), budgets, told };
    } finally {
      await admin.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const {
      detail,
      advice = config.databaseUrl === null
        ? "`emend serve` starts it, and says why if it cannot."
        : "Check the user, the password, the host and the database in EMEND_DATABASE_URL.",
    } = unmade(error) ?? { detail: reason };
    return { name, verdict: "bad", detail: `${what}: ${detail}`, advice };
  }
}

function examineBudget(budget: Awaited<ReturnType<Admin["listBudgets"]>>[number]): Examination {
  const { project, jobs, jobsMax, costUsd, costUsdMax } = budget;
  const used = [
    ...(costUsdMax === null ? [] : [`$${costUsd.toFixed(2)} of $${costUsdMax}`]),
    ...(jobsMax === null ? [] : [`${jobs} of ${jobsMax} jobs`]),
  ].join(", ");
  const isSpent = (costUsdMax !== null && costUsd >= costUsdMax) || (jobsMax !== null && jobs >= jobsMax);
  const detail = `${project === null ? "all projects" : project}, this month: ${used}`;
  if (!isSpent) return { name: "budget", verdict: "good", detail };
  const change = project === null ? "`emend budget`" : "`emend project settings`";
  return {
    name: "budget",
    verdict: "note",
    detail,
    advice: `It is used up: new jobs are refused. ${change} raises it.`,
  };
}

function wrongSecret(config: Config, what: string): Pick<Examination, "detail" | "advice"> {
  const which = config.secret === null ? `the secret in ${config.dataDir}/secret` : "EMEND_SECRET";
  return {
    detail: `${what} answers, but ${which} is not the secret that its credentials are sealed with`,
    advice: "Put the former secret back. `emend secrets rotate --from-env OLD --to-env NEW` replaces it.",
  };
}

/** Postgres's errors for tables, columns or functions that do not exist yet. */
function unmade(error: unknown): Pick<Examination, "detail" | "advice"> | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "42P01") return { detail: "nothing here yet", advice: "`emend serve` makes it." };
  if (code !== "42703" && code !== "42883") return null;
  return { detail: "its tables are of an older release", advice: "`emend serve` brings them up to date." };
}

/** Without user and password. */
function hostOf(databaseUrl: string): string {
  return /^\w+:\/\/(?:[^@/?#]*@)?([^/?#]+)/.exec(databaseUrl)?.[1] ?? "EMEND_DATABASE_URL";
}

const oldest = [2, 38] as const;

async function examineGit(): Promise<Examination> {
  try {
    const { stdout } = await promisify(execFile)("git", ["--version"], { timeout: 5000, maxBuffer: 10_000 });
    const version = stdout.trim();
    const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(version) ?? [];
    const isOld = Number(major) < oldest[0] || (Number(major) === oldest[0] && Number(minor) < oldest[1]);
    if (!isOld) return { name: "git", verdict: "good", detail: version };
    return { name: "git", verdict: "bad", detail: version, advice: `Install git ${oldest.join(".")} or newer.` };
  } catch (error) {
    const detail =
      error instanceof Error && "code" in error && error.code === "ENOENT" ? "not found" : "does not answer";
    return { name: "git", verdict: "bad", detail, advice: `Install git ${oldest.join(".")} or newer.` };
  }
}

/** Generous limits: for the database, callers and caches; and for a job's git processes, locks and model. */
const filesAtRest = 256;
const filesOfJob = 32;

async function examineOpenFiles(concurrency: number): Promise<Examination> {
  const name = "open files";
  // Node has raised its own limit as far as possible, and the shell has the same.
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", "ulimit -n"], { timeout: 5000 });
  const limit = stdout.trim() === "unlimited" ? Number.POSITIVE_INFINITY : Number(stdout);
  const needed = filesAtRest + filesOfJob * concurrency;
  const detail = `at most ${stdout.trim()}; ${concurrency} jobs at a time need about ${needed}`;
  if (limit >= needed) return { name, verdict: "good", detail };
  const advice =
    "Raise the limit (`ulimit -n`, LimitNOFILE of systemd, --ulimit nofile of Docker) or lower EMEND_CONCURRENCY.";
  return { name, verdict: "bad", detail, advice };
}

/** A wrong key is found here and not by a job. */
function examineServices(
  { models, email, saml, chats = [] }: ServiceTrials,
  { hint, by }: { hint: string | null; by: string },
): readonly Examination[] {
  const [first, ...fallbacks] = models.map((trial) => examineModel(trial, by));
  return [
    ...(first ? [hint === null ? first : { ...first, advice: hint }] : []),
    ...fallbacks.map((seen) => ({ ...seen, name: "fallback" })),
    ...(email ? [examineEmail(email, by)] : []),
    ...(saml ? [examineSaml(saml, by)] : []),
    ...chats.flatMap((chat) => examineChat(chat, by)),
  ];
}

function examineModel(trial: ServiceTrials["models"][number], by: string): Examination {
  const { model } = trial;
  if (trial.kind === "unavailable") {
    return {
      name: "model",
      verdict: "bad",
      detail: `${model} is not reachable: ${trial.words}${by}`,
      advice: "Set its key and address, or EMEND_MODEL=emend/rules to work without a model.",
    };
  }
  if (model.startsWith("runner/"))
    return { name: "model", verdict: "good", detail: `${model} is ready: program, key and sandbox are there${by}` };
  const detail =
    model === "emend/rules"
      ? "emend/rules: deterministic, needs no key"
      : `${model} answers, in ${trial.ms} ms${trial.window === undefined ? "" : `; ${trial.window}`}`;
  return { name: "model", verdict: "good", detail: `${detail}${by}` };
}

function examineChat({ name, problems }: ServiceTrials["chats"][number], by: string): readonly Examination[] {
  if (problems.length === 0) return [{ name, verdict: "good", detail: `accepts the tokens${by}` }];
  return problems.map((problem) => ({ name, verdict: "bad", detail: `${problem}${by}` }));
}

function examineSaml({ provider, certificates, problem }: NonNullable<ServiceTrials["saml"]>, by: string): Examination {
  const name = "saml";
  if (problem === null)
    return { name, verdict: "good", detail: `${provider}, signing certificates: ${certificates}${by}` };
  return { name, verdict: "bad", detail: `${provider}: ${problem}${by}`, advice: "Check the EMEND_SAML_ settings." };
}

function examineEmail({ server, isLoggedIn, problem }: NonNullable<ServiceTrials["email"]>, by: string): Examination {
  if (problem === null)
    return {
      name: "email",
      verdict: "good",
      detail: `${server} accepts ${isLoggedIn ? "the login" : "connections"}${by}`,
    };
  const detail = `${server} does not answer as it should: ${problem}${by}`;
  return { name: "email", verdict: "bad", detail, advice: "Check EMEND_SMTP_URL." };
}

export function registerDoctor(program: Command, cli: Cli): void {
  const command = program.command("doctor").description("what is configured, what is reachable, what is missing");
  withJson(withData(command)).action((options: AdminOptions) => doctor(cli, options));
}

const marks = { good: "✓", note: "·", bad: "✗" } as const;

async function doctor(cli: Cli, options: AdminOptions): Promise<void> {
  const examinations = await examine(cli, options);
  const bad = examinations.filter(({ verdict }) => verdict === "bad");
  printResult(cli, options, { ok: bad.length === 0, examinations }, examinations.map(lineOf).join("\n"));
  if (bad.length > 0)
    throw new CliError("fault", `marked with ✗: ${[...new Set(bad.map(({ name }) => name))].join(", ")}`);
}

function lineOf({ name, verdict, detail, advice }: Examination): string {
  const line = `${marks[verdict]} ${name.padEnd(11)} ${safeText(detail)}`;
  return advice === undefined ? line : `${line}\n${" ".repeat(14)}${asTyped(safeText(advice))}`;
}
