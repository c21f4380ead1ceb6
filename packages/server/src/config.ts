import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { SingleSignOnConfig } from "./accounts/single-sign-on/single-sign-on.ts";
import type { PriceTable } from "./agent/models/prices.ts";
import type { Endpoint } from "./agent/models/vendor.ts";
import type { RunnerSettings } from "./agent/runners/runner.ts";
import type { Network } from "./lib/network.ts";
import { readModelSettings } from "./model-settings.ts";
import { readSingleSignOn } from "./single-sign-on-settings.ts";
import { readTracingSettings } from "./tracing/read-settings.ts";
import type { TracingSettings } from "./tracing/tracing.ts";

type Role = "all" | "api" | "worker";

export interface Config {
  /** Null: the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  /** Where clients reach this installation, without a trailing slash; null: derived from host and port once bound. */
  readonly publicUrl: string | null;
  readonly role: Role;
  /** The model of projects that name none. */
  readonly model: string;
  /** Asked in its place while it is not available. */
  readonly modelFallbacks: readonly string[];
  /** Where models are reached and by which keys, by vendor. */
  readonly modelEndpoints: Readonly<Record<string, Endpoint>>;
  /** What the operator knows better than the list. */
  readonly modelPrices: PriceTable;
  /** Agent programs of the operator's that may do jobs. */
  readonly runners: Omit<RunnerSettings, "caFile" | "httpsProxy">;
  /** Seals credentials and signs internal tokens; null: made and kept in `dataDir` (embedded database only). */
  readonly secret: string | null;
  readonly trustProxy: boolean | string;
  /** Runs at the same time in this process. */
  readonly concurrency: number;
  readonly logLevel: string;
  /** Where the local forge keeps repositories; null: below `dataDir`, for this machine alone. */
  readonly forgeDir: string | null;
  readonly promptCodePointsMax: number;
  /** Days after which final jobs are archived by themselves; null: never. */
  readonly archiveAfterDays: number | null;
  /** Proxies and authorities that git and every HTTP client heed. */
  readonly network: Network;
  /** Webhooks may go to loopback and private networks (link-local never), and over http. */
  readonly allowPrivateWebhooks: boolean;
  /** `/metrics` on a port of its own; null: none. */
  readonly metricsPort: number | null;
  /** Opens `/metrics` to whoever presents it; null: it is not on the interface's port. */
  readonly metricsToken: string | null;
  /** Where traces go; null: nowhere. */
  readonly tracing: TracingSettings | null;
  /** The identity provider that people may log in by; null: none. */
  readonly singleSignOn: SingleSignOnConfig | null;
  /** Where a test build kills itself; ignored by every other. */
  readonly crashAt: string | undefined;
}

export interface ConfigOverrides {
  port?: number;
  host?: string;
  dataDir?: string;
  role?: Role;
}

/** Everything that is wrong with the configuration, at once and in words. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

const roles: readonly Role[] = ["all", "api", "worker"];
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

/** Reads the environment once, validates all of it, and freezes the answer. */
export function loadConfig(env: NodeJS.ProcessEnv, overrides: ConfigOverrides = {}): Config {
  const problems: string[] = [];
  const read = (name: string) => readVariable(env, name, problems);

  const databaseUrl = read("EMEND_DATABASE_URL");
  if (databaseUrl && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    problems.push("EMEND_DATABASE_URL must begin with postgres:// or postgresql://");
  }
  const secret = read("EMEND_SECRET");
  if (secret && secret.length < 32) {
    problems.push("EMEND_SECRET must have at least 32 characters; `openssl rand -hex 32` makes one");
  }
  if (databaseUrl && !secret) {
    problems.push(
      "EMEND_SECRET is required with EMEND_DATABASE_URL, the same on every node; `openssl rand -hex 32` makes one",
    );
  }
  const role = overrides.role ?? parseChoice("EMEND_ROLE", read("EMEND_ROLE"), roles, "all", problems);
  if (role !== "all" && !databaseUrl) {
    problems.push(`role ${role} shares its database with other processes: set EMEND_DATABASE_URL, or use role all`);
  }

  const publicUrl = parsePublicUrl(read("EMEND_PUBLIC_URL"), problems);
  if (role !== "all" && !publicUrl) {
    problems.push(`role ${role} needs EMEND_PUBLIC_URL, the same on every node: links in pull requests begin with it`);
  }

  const config: Config = {
    databaseUrl,
    dataDir: resolve(overrides.dataDir ?? read("EMEND_DATA_DIR") ?? join(homedir(), ".emend")),
    host: overrides.host ?? read("EMEND_HOST") ?? "127.0.0.1",
    port: overrides.port ?? parseInteger("EMEND_PORT", read("EMEND_PORT"), { least: 0, most: 65_535 }, 4600, problems),
    publicUrl,
    role,
    model: read("EMEND_MODEL") ?? "emend/rules",
    ...readModelSettings(read, problems),
    runners: {
      path: env.PATH ?? "",
      isUnsandboxed: parseFlag("EMEND_RUNNER_UNSANDBOXED", read("EMEND_RUNNER_UNSANDBOXED"), problems),
      memoryBytesMax:
        parseInteger(
          "EMEND_RUNNER_MEMORY_MB",
          read("EMEND_RUNNER_MEMORY_MB"),
          { least: 64, most: 1_048_576 },
          4_096,
          problems,
        ) *
        2 ** 20,
    },
    secret,
    trustProxy: parseTrustProxy(read("EMEND_TRUST_PROXY")),
    concurrency: parseInteger("EMEND_CONCURRENCY", read("EMEND_CONCURRENCY"), { least: 1, most: 1000 }, 8, problems),
    logLevel: parseChoice("EMEND_LOG_LEVEL", read("EMEND_LOG_LEVEL"), logLevels, "info", problems),
    forgeDir: optionalPath(read("EMEND_FORGE_DIR")),
    promptCodePointsMax: parseInteger(
      "EMEND_PROMPT_MAX",
      read("EMEND_PROMPT_MAX"),
      { least: 1, most: 500_000 },
      100_000,
      problems,
    ),
    archiveAfterDays: parseOptionalInteger(
      "EMEND_ARCHIVE_AFTER_DAYS",
      read("EMEND_ARCHIVE_AFTER_DAYS"),
      { least: 1, most: 36_500 },
      problems,
    ),
    network: readNetwork(env, problems),
    allowPrivateWebhooks:
      parseChoice(
        "EMEND_ALLOW_PRIVATE_WEBHOOKS",
        read("EMEND_ALLOW_PRIVATE_WEBHOOKS"),
        ["true", "false"],
        "false",
        problems,
      ) === "true",
    metricsPort: parseOptionalInteger(
      "EMEND_METRICS_PORT",
      read("EMEND_METRICS_PORT"),
      { least: 0, most: 65_535 },
      problems,
    ),
    metricsToken: read("EMEND_METRICS_TOKEN"),
    tracing: readTracingSettings(read, problems),
    singleSignOn: readSingleSignOn(read, problems),
    crashAt: env.NODE_ENV === "test" || env.EMEND_TEST_BUILD === "1" ? env.EMEND_CRASH_AT : undefined,
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** A variable, or the content of the file that `<name>_FILE` names. */
function readVariable(env: NodeJS.ProcessEnv, name: string, problems: string[]): string | null {
  const file = env[`${name}_FILE`];
  const value = env[name];
  if (file && value) problems.push(`${name} and ${name}_FILE are both set: keep one`);
  if (!file) return value || null;
  if (!existsSync(file)) {
    problems.push(`${name}_FILE names ${file}, which does not exist`);
    return null;
  }
  return readFileSync(file, "utf8").trim() || null;
}

function parseInteger(
  name: string,
  text: string | null,
  bounds: { least: number; most: number },
  fallback: number,
  problems: string[],
): number {
  return parseOptionalInteger(name, text, bounds, problems) ?? fallback;
}

function parseOptionalInteger(
  name: string,
  text: string | null,
  bounds: { least: number; most: number },
  problems: string[],
): number | null {
  if (text === null) return null;
  const value = Number(text);
  if (Number.isInteger(value) && value >= bounds.least && value <= bounds.most) return value;
  problems.push(`${name} must be a whole number from ${bounds.least} to ${bounds.most}, not "${text}"`);
  return null;
}

function parseChoice<T extends string>(
  name: string,
  text: string | null,
  choices: readonly T[],
  fallback: T,
  problems: string[],
): T {
  if (text === null) return fallback;
  const found = choices.find((choice) => choice === text);
  if (!found) problems.push(`${name} must be one of ${choices.join(", ")}, not "${text}"`);
  return found ?? fallback;
}

function parseFlag(name: string, text: string | null, problems: string[]): boolean {
  return ["1", "true"].includes(parseChoice(name, text, ["0", "1", "true", "false"], "0", problems));
}

function parsePublicUrl(text: string | null, problems: string[]): string | null {
  if (text === null) return null;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username) {
    return url.href.replace(/\/+$/, "");
  }
  problems.push(`EMEND_PUBLIC_URL must be an http or https URL without query, fragment or credentials, not "${text}"`);
  return null;
}

/** `true` trusts every proxy; otherwise addresses or ranges, as a comma-separated list. */
function parseTrustProxy(text: string | null): boolean | string {
  if (text === null || text === "false") return false;
  return text === "true" ? true : text;
}

/** The usual names, in both spellings; ours for authorities, or else Node's own. */
function readNetwork(env: NodeJS.ProcessEnv, problems: string[]): Network {
  const either = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const httpsProxy = either("HTTPS_PROXY");
  const httpProxy = either("HTTP_PROXY");
  const noProxy = either("NO_PROXY");
  const caFile = env.EMEND_CA_FILE || env.NODE_EXTRA_CA_CERTS || undefined;
  for (const [name, value] of Object.entries({ HTTPS_PROXY: httpsProxy, HTTP_PROXY: httpProxy })) {
    if (value !== undefined && !/^https?:$/.test(URL.parse(value)?.protocol ?? "")) {
      problems.push(`${name} must be an http or https URL`);
    }
  }
  if (env.EMEND_CA_FILE && !existsSync(env.EMEND_CA_FILE)) {
    problems.push(`EMEND_CA_FILE names ${env.EMEND_CA_FILE}, which does not exist`);
  }
  return {
    ...(httpsProxy && { httpsProxy }),
    ...(httpProxy && { httpProxy }),
    ...(noProxy && { noProxy }),
    ...(caFile && existsSync(caFile) && { caFile: resolve(caFile) }),
  };
}

function optionalPath(text: string | null): string | null {
  return text === null ? null : resolve(text);
}
