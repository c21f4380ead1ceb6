import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Endpoint, PriceTable } from "@emend/agent";
import type { Network } from "@emend/base/network.ts";
import type { BuildsConfig } from "@emend/build";
import type { MattermostSettings, SlackSettings } from "@emend/chat";
import { editDistance, type Retention, retention, retentionDaysMax, retentionNames } from "@emend/contract";
import type { RunnerSettings } from "@emend/runners";
import { readTracingSettings, type TracingSettings } from "@emend/tracing";
import type { SamlConfig } from "../accounts/single-sign-on/saml.ts";
import type { SingleSignOnConfig } from "../accounts/single-sign-on/single-sign-on.ts";
import { readServers } from "../db/server-client.ts";
import type { SmtpSettings } from "../notify/email.ts";
import { type KnowledgePrograms, readKnowledgePrograms } from "./knowledge-settings.ts";
import { readModelSettings, runnerPrograms } from "./model-settings.ts";
import { readHost, readNetwork, readPublicUrl, readTrustProxy } from "./network-settings.ts";
import { ConfigError, createSettingReader, type SettingReader, whyNoFolder } from "./setting-reader.ts";
import { readProvider } from "./single-sign-on-settings.ts";

export { ConfigError } from "./setting-reader.ts";

export type Role = "all" | "api" | "worker";

export interface Config {
  /** Null: the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | null;
  /** A direct connection for LISTEN, if `databaseUrl` leads to a pooler. Null: `databaseUrl` itself. */
  readonly databaseListenUrl: string | null;
  /** A replica for searches and older pages of lists. Null: the primary answers all. */
  readonly databaseReadUrl: string | null;
  readonly dataDir: string;
  /** Commands of the same user find it without naming it. */
  readonly isDefaultDataDir: boolean;
  readonly host: string;
  readonly port: number;
  /** The URL for clients, without a trailing slash. Null: derived from host and port once bound. */
  readonly publicUrl: string | null;
  /** Which of several installations this is. Null: there is only one. */
  readonly cell: string | null;
  readonly role: Role;
  /** The model of projects that name none. */
  readonly model: string;
  /** Fallbacks, used while it is unavailable. */
  readonly modelFallbacks: readonly string[];
  /** The vendors' URLs and keys. */
  readonly modelEndpoints: Readonly<Record<string, Endpoint>>;
  /** Prices that override the built-in list. */
  readonly modelPrices: PriceTable;
  /** How long a model may send nothing. */
  readonly modelSilenceMsMax: number;
  /** The operator's agent programs that may run jobs. */
  readonly runners: RunnerSettings;
  /** Builds of docs sites, in a sandbox. */
  readonly builds: BuildsConfig;
  /**
   * Encrypts credentials and signs internal tokens. Null: generated and stored in `dataDir` (embedded database only).
   */
  readonly secret: string | null;
  readonly trustProxy: boolean | string;
  /** Concurrent runs in this process. */
  readonly concurrency: number;
  /** With less free space, no job is claimed. */
  readonly diskReserveBytes: number;
  readonly logLevel: string;
  /** The local forge's folder. Null: in `dataDir`, for this machine only. */
  readonly forgeDir: string | null;
  readonly promptCodePointsMax: number;
  /** What is deleted by itself, and when. The dashboard's values override these. */
  readonly retention: Retention;
  /** Proxies and authorities for git and every HTTP client. */
  readonly network: Network;
  /** Webhooks may go to loopback and private networks (never link-local), and over http. */
  readonly allowPrivateWebhooks: boolean;
  /** Context repositories may be on loopback and private networks (never link-local). */
  readonly allowPrivateForges: boolean;
  /** Knowledge servers may be on loopback and private networks (never link-local). */
  readonly allowPrivateKnowledge: boolean;
  /** Local programs that projects may ask. */
  readonly knowledgePrograms: KnowledgePrograms;
  /** Programs that ask for access may describe themselves on loopback and private networks (never link-local). */
  readonly allowPrivatePrograms: boolean;
  /** `/metrics` on a separate port. Null: none. */
  readonly metricsPort: number | null;
  /** The token for `/metrics` on the API's port. Null: not available there. */
  readonly metricsToken: string | null;
  /** Where traces go. Null: nowhere. */
  readonly tracing: TracingSettings | null;
  /** The server for email. Null: none is sent. */
  readonly smtp: SmtpSettings | null;
  /** Null: Emend is not in Slack. */
  readonly slack: SlackSettings | null;
  /** Null: Emend is not in Mattermost. */
  readonly mattermost: MattermostSettings | null;
  /** The OpenID Connect provider for logins. Null: none. */
  readonly singleSignOn: SingleSignOnConfig | null;
  /** The SAML provider for logins. Null: none. */
  readonly saml: SamlConfig | null;
  /** Where a test makes the process crash; ignored in production. */
  readonly crashAt: string | undefined;
  /** Variables with our prefix that nothing reads, reported at startup. */
  readonly unknownSettings: readonly UnknownSetting[];
}

export interface ConfigOverrides {
  port?: number;
  host?: string;
  dataDir?: string;
  role?: Role;
}

const processRoles: readonly Role[] = ["all", "api", "worker"];
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];
const portNumbers = { least: 0, most: 65_535 };

/** Reads the environment once, validates all of it (also what a flag overrides), and freezes the result. */
export function loadConfig(env: NodeJS.ProcessEnv, overrides: ConfigOverrides = {}): Config {
  const { config, problems } = readConfig(env, overrides);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** With problems, the configuration is only good for inspection: invalid values have their defaults. */
export function readConfig(
  env: NodeJS.ProcessEnv,
  overrides: ConfigOverrides = {},
): { config: Config; problems: readonly string[] } {
  const settings = createSettingReader(env);
  const { problems, text, integer } = settings;
  const roleNamed = settings.choice("EMEND_ROLE", processRoles);
  const role = overrides.role ?? roleNamed ?? "all";
  const shared = readShared(settings, role);
  const dataDir = settings.folder("EMEND_DATA_DIR");
  const host = readHost(settings);
  const port = integer("EMEND_PORT", portNumbers);

  const network = readNetwork(env, problems);

  const defaultDir = join(env.HOME || homedir(), ".emend");
  const chosenDir = resolve(overrides.dataDir ?? dataDir ?? defaultDir);

  const config: Config = {
    ...shared,
    role,
    cell: readCell(settings),
    dataDir: chosenDir,
    isDefaultDataDir: chosenDir === defaultDir,
    host: overrides.host ?? host ?? "127.0.0.1",
    port: overrides.port ?? port ?? 4600,
    ...readModelSettings(settings),
    runners: readRunnerSettings(settings, env.PATH ?? ""),
    builds: readBuildSettings(settings, env.PATH ?? ""),
    trustProxy: readTrustProxy(settings),
    concurrency: integer("EMEND_CONCURRENCY", { least: 1, most: 1000 }) ?? 8,
    diskReserveBytes: (integer("EMEND_DISK_RESERVE_MB", { least: 0, most: 1_048_576 }) ?? 200) * 2 ** 20,
    logLevel: settings.choice("EMEND_LOG_LEVEL", logLevels) ?? "info",
    forgeDir: settings.folder("EMEND_FORGE_DIR"),
    promptCodePointsMax: integer("EMEND_PROMPT_MAX", { least: 1, most: 500_000 }) ?? 100_000,
    retention: readRetention(settings),
    network,
    allowPrivateWebhooks: settings.flag("EMEND_ALLOW_PRIVATE_WEBHOOKS"),
    allowPrivateKnowledge: settings.flag("EMEND_ALLOW_PRIVATE_KNOWLEDGE"),
    knowledgePrograms: readKnowledgePrograms(settings, env.PATH ?? ""),
    allowPrivatePrograms: settings.flag("EMEND_ALLOW_PRIVATE_PROGRAMS"),
    allowPrivateForges: settings.flag("EMEND_ALLOW_PRIVATE_FORGES"),
    metricsPort: integer("EMEND_METRICS_PORT", portNumbers),
    metricsToken: readMetricsToken(settings),
    tracing: readTracingSettings(text, problems),
    ...readProvider(text, problems),
    smtp: readSmtp(settings, network),
    slack: readSlack(settings),
    mattermost: readMattermost(settings),
    crashAt: env.NODE_ENV === "test" || env.EMEND_TEST_BUILD === "1" ? env.EMEND_CRASH_AT : undefined,
    unknownSettings: findUnknownSettings(env, settings.names()),
  };
  if (config.metricsPort !== null && config.metricsPort !== 0 && config.metricsPort === config.port) {
    problems.push(`EMEND_METRICS_PORT must be another port than the interface's, not ${config.port}`);
  }
  const whyNot = overrides.dataDir === undefined ? null : whyNoFolder(config.dataDir);
  if (whyNot !== null) problems.push(`--data names ${config.dataDir}, ${whyNot}`);
  return { config: Object.freeze(config), problems };
}

function readCell({ text, problems }: SettingReader): string | null {
  const cell = text("EMEND_CELL") ?? null;
  if (cell === null || /^[a-z0-9][a-z0-9-]{0,39}$/.test(cell)) return cell;
  problems.push(
    `EMEND_CELL must be at most 40 small letters, digits and hyphens, such as eu-1, not ${JSON.stringify(cell)}`,
  );
  return null;
}

/** What all processes of one installation must agree on. All missing settings are reported at once. */
function readShared(
  settings: SettingReader,
  role: Role,
): Pick<Config, "databaseUrl" | "databaseListenUrl" | "databaseReadUrl" | "secret" | "publicUrl"> {
  const { problems, text } = settings;
  const databaseUrl = readDatabaseUrl(settings, "EMEND_DATABASE_URL");
  const databaseListenUrl = readDatabaseUrl(settings, "EMEND_DATABASE_LISTEN_URL");
  const databaseReadUrl = readDatabaseUrl(settings, "EMEND_DATABASE_READ_URL");
  for (const [name, given] of Object.entries({ LISTEN: databaseListenUrl, READ: databaseReadUrl }))
    if (given && !databaseUrl) problems.push(`EMEND_DATABASE_${name}_URL is only read with EMEND_DATABASE_URL`);
  if (!databaseUrl && role !== "all") {
    problems.push(`role ${role} shares its database with other processes: set EMEND_DATABASE_URL, or use role all`);
  }
  const problemsBefore = problems.length;
  const secret = text("EMEND_SECRET");
  if (secret && secret.length < 32) {
    problems.push(
      `EMEND_SECRET must have at least 32 characters, not ${secret.length}; \`openssl rand -hex 32\` makes one`,
    );
  } else if (!secret && (databaseUrl || role !== "all") && problems.length === problemsBefore) {
    problems.push(
      `EMEND_SECRET is required with ${databaseUrl ? "EMEND_DATABASE_URL" : `role ${role}`}, the same on every node; ` +
        "`openssl rand -hex 32` makes one",
    );
  }
  const publicUrl = readPublicUrl(settings);
  if (role !== "all" && !text("EMEND_PUBLIC_URL")) {
    problems.push(`role ${role} needs EMEND_PUBLIC_URL, the same on every node: links in pull requests begin with it`);
  }
  return { databaseUrl, databaseListenUrl, databaseReadUrl, secret, publicUrl };
}

/** Messages never contain the URL, because it may have a password. */
function readDatabaseUrl({ text, problems }: SettingReader, name: string): string | null {
  const url = text(name);
  if (!url || readServers(url)) return url;
  const scheme = /^[\w+.-]{1,20}:/.exec(url)?.[0];
  problems.push(
    `${name} must be a URL such as postgres://user:password@host:5432/database (several hosts with commas between them, ` +
      "and target_session_attrs=primary, read-write, standby, read-only or any), " +
      `not one that ${scheme ? `begins with "${scheme}" and cannot be read` : "lacks postgres:// in front"}`,
  );
  return url;
}

/** `Name <address>`, or the address alone, of printable ASCII. */
const sender = /^(?:([^<>"\p{Cc}]{1,100}?)\s*<([!-;=?A-~]+@[!-;=?A-~]+)>|([!-;=?A-~]+@[!-;=?A-~]+))$/u;

/** Messages never contain the URL, because it may have a password. */
function readSmtp({ text, problems }: SettingReader, { caFile }: Network): SmtpSettings | null {
  const given = text("EMEND_SMTP_URL");
  const from = text("EMEND_SMTP_FROM");
  if (given === null && from === null) return null;
  if (given === null || from === null) {
    problems.push("EMEND_SMTP_URL and EMEND_SMTP_FROM belong together: set both, or neither");
    return null;
  }
  const url = URL.parse(given);
  const isSecure = url?.protocol === "smtps:";
  const isPlain = url !== null && url.pathname.replace("/", "") === "" && url.search === "" && url.hash === "";
  if (!url || !(isSecure || url.protocol === "smtp:") || url.hostname === "" || !isPlain) {
    problems.push(
      "EMEND_SMTP_URL must be a URL such as smtp://user:password@mail.acme.com:587, or begin with smtps://",
    );
    return null;
  }
  const [, name = "", named, alone] = sender.exec(from.trim()) ?? [];
  const address = named ?? alone;
  if (address === undefined) {
    problems.push(`EMEND_SMTP_FROM must be an address such as Emend <emend@acme.com>, not "${from}"`);
    return null;
  }
  const user = decodeURIComponent(url.username);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (isSecure ? 465 : 587),
    isSecure,
    login: user === "" ? null : { user, password: decodeURIComponent(url.password) },
    from: { name, address },
    caFile: caFile ?? null,
  };
}

/** Messages never contain the tokens. */
function readSlack({ text, problems }: SettingReader): SlackSettings | null {
  const botToken = text("EMEND_SLACK_BOT_TOKEN");
  const appToken = text("EMEND_SLACK_APP_TOKEN");
  const signingSecret = text("EMEND_SLACK_SIGNING_SECRET");
  const apiUrl = text("EMEND_SLACK_API_URL");
  if (botToken === null) {
    const given = {
      EMEND_SLACK_APP_TOKEN: appToken,
      EMEND_SLACK_SIGNING_SECRET: signingSecret,
      EMEND_SLACK_API_URL: apiUrl,
    };
    const alone = Object.entries(given).flatMap(([name, value]) => (value === null ? [] : [name]));
    if (alone.length > 0) problems.push(`EMEND_SLACK_BOT_TOKEN is required with ${alone.join(", ")}`);
    return null;
  }
  if (!botToken.startsWith("xoxb-")) {
    problems.push("EMEND_SLACK_BOT_TOKEN must be the app's bot token, which begins with xoxb-");
  }
  if (appToken !== null && !appToken.startsWith("xapp-")) {
    problems.push("EMEND_SLACK_APP_TOKEN must be an app-level token, which begins with xapp-");
  }
  if (appToken === null && signingSecret === null) {
    problems.push(
      "EMEND_SLACK_BOT_TOKEN needs EMEND_SLACK_APP_TOKEN (Socket Mode) or EMEND_SLACK_SIGNING_SECRET (HTTP)",
    );
  }
  if (apiUrl !== null && !/^https?:\/\/[^\s@?#]+\/$/.test(apiUrl)) {
    problems.push("EMEND_SLACK_API_URL must be a URL that ends with a slash, such as https://slack.com/api/");
  }
  return { botToken, appToken, signingSecret, apiUrl };
}

function readMattermost({ text, problems }: SettingReader): MattermostSettings | null {
  const url = text("EMEND_MATTERMOST_URL");
  const token = text("EMEND_MATTERMOST_TOKEN");
  if (url === null && token === null) return null;
  if (url === null || token === null) {
    problems.push("EMEND_MATTERMOST_URL and EMEND_MATTERMOST_TOKEN belong together: set both, or neither");
    return null;
  }
  if (!/^https?:\/\/[^\s@?#]+$/.test(url)) {
    problems.push("EMEND_MATTERMOST_URL must be a URL such as https://chat.acme.com");
  }
  return { url: url.replace(/\/+$/, ""), token };
}

/** It is sent in a header, which allows only plain characters. */
function readMetricsToken({ text, problems }: SettingReader): string | null {
  const token = text("EMEND_METRICS_TOKEN");
  if (token !== null && !/^[\x21-\x7e]{16,}$/.test(token)) {
    problems.push("EMEND_METRICS_TOKEN must be at least 16 plain characters without blanks");
  }
  return token;
}

/** The settings of runners. */
function readRetention({ integer }: SettingReader): Retention {
  const ages = retentionNames.map((name) => {
    const { variable, least, usual } = retention[name];
    return [name, integer(variable, { least, most: retentionDaysMax }) ?? usual];
  });
  return Object.fromEntries(ages) as Retention;
}

function readRunnerSettings({ text, flag, integer, problems }: SettingReader, path: string): RunnerSettings {
  const named = text("EMEND_RUNNERS") ?? runnerPrograms.join(",");
  const allowed = named === "none" ? [] : named.split(",").map((name) => name.trim());
  for (const name of allowed.filter((name) => !runnerPrograms.includes(name))) {
    problems.push(`EMEND_RUNNERS must be none, or names of ${runnerPrograms.join(", ")} with commas, not "${name}"`);
  }
  return {
    allowed,
    path,
    isUnsandboxed: flag("EMEND_RUNNER_UNSANDBOXED"),
    memoryBytesMax: (integer("EMEND_RUNNER_MEMORY_MB", { least: 64, most: 1_048_576 }) ?? 4_096) * 2 ** 20,
  };
}

/** The limits of builds, each for one build. */
function readBuildSettings({ text, integer, problems }: SettingReader, path: string): BuildsConfig {
  const registry = text("EMEND_BUILD_REGISTRY") ?? "https://registry.npmjs.org/";
  if (!/^https?:$/.test(URL.parse(registry)?.protocol ?? "") || /[@?#]/.test(registry)) {
    problems.push(
      `EMEND_BUILD_REGISTRY must be a URL such as https://registry.npmjs.org/, without a user and a query, not "${registry}"`,
    );
  }
  return {
    path,
    registry,
    atOnceMax: integer("EMEND_BUILDS_AT_ONCE", { least: 0, most: 1000 }) ?? 2,
    limits: {
      timeoutMs: (integer("EMEND_BUILD_MINUTES", { least: 1, most: 120 }) ?? 10) * 60_000,
      memoryBytesMax: (integer("EMEND_BUILD_MEMORY_MB", { least: 64, most: 1_048_576 }) ?? 2_048) * 2 ** 20,
      processesMax: 256,
      diskBytesMax: (integer("EMEND_BUILD_DISK_MB", { least: 16, most: 1_048_576 }) ?? 1_024) * 2 ** 20,
    },
  };
}

/** A variable with our prefix that nothing reads, and the one that was probably meant. */
interface UnknownSetting {
  readonly variable: string;
  readonly nearest: string | null;
}

/** Read by the CLI and by the Action, whose environment a server may share. */
const otherNames = [
  "EMEND_URL",
  "EMEND_API_KEY",
  "EMEND_PROFILE",
  "EMEND_PROJECT",
  "EMEND_DEBUG",
  "EMEND_CA_FILE",
  "EMEND_CRASH_AT",
];

/** Finds misspelled variables, which would otherwise be ignored silently. */
function findUnknownSettings(env: NodeJS.ProcessEnv, names: readonly string[]): readonly UnknownSetting[] {
  const known = [...names, ...otherNames].filter((name) => name.startsWith("EMEND_"));
  const isKnown = (name: string) =>
    known.includes(name) || (name.endsWith("_FILE") && known.includes(name.slice(0, -5)));
  return Object.keys(env)
    .filter((name) => name.startsWith("EMEND_") && !name.startsWith("EMEND_TEST_") && !isKnown(name))
    .sort()
    .map((variable) => ({ variable, nearest: nearestOf(variable, known) }));
}

function nearestOf(name: string, known: readonly string[]): string | null {
  const ranked = (name.endsWith("_FILE") ? [...known, ...known.map((one) => `${one}_FILE`)] : known)
    .map((one) => ({ one, distance: editDistance(name, one) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.ceil((name.length - "EMEND_".length) / 3) ? best.one : null;
}
