import { EmendError } from "@emend/sdk";
import type { Config } from "@emend/server";
import { type Cli, CliError, version } from "../cli.ts";
import { clientOf, trustCaFile } from "../commands/jobs-of.ts";
import { type Access, defaultUrl, readProfiles, resolveAccess } from "../profile/profile-file.ts";

export interface Examination {
  name: string;
  /** note: nothing is wrong, but it is worth knowing. */
  verdict: "good" | "note" | "bad";
  detail: string;
  advice?: string;
}

const clientSettings = ["URL", "API_KEY", "PROFILE", "PROJECT", "DEBUG", "CA_FILE"].map((name) => `EMEND_${name}`);

/** This machine knows a server by its address, key or login, and has no setting of a server: unknown ones are a program's own. */
export function hasOnlyClientSettings(cli: Cli, unknown: Config["unknownSettings"]): boolean {
  const own = unknown.filter(({ nearest }) => nearest === null).map(({ variable }) => variable);
  const names = Object.keys(cli.env).filter(
    (name) => /^EMEND_(?!TEST_)/.test(name) && cli.env[name] && !own.includes(name),
  );
  if (names.some((name) => !clientSettings.includes(name))) return false;
  return names.some((name) => /_(URL|API_KEY|PROFILE)$/.test(name)) || isLoggedIn(cli);
}

function isLoggedIn({ env }: Cli): boolean {
  try {
    return readProfiles(env).current !== null;
  } catch {
    // The login is there and cannot be read, which the examination says.
    return true;
  }
}

/** Whether the server that this machine's commands talk to can be reached, and takes the key. */
export async function examineClient(cli: Cli): Promise<readonly Examination[]> {
  const scope: Examination = {
    name: "client",
    verdict: "note",
    detail: `emend ${version}, checked as a client: no server is set up here`,
    advice: "To check a server, run `emend doctor` where it runs, with its settings or with --data DIR.",
  };
  try {
    trustCaFile(cli.env);
    const access = resolveAccess(cli);
    const server = await examineServer(access.url, cli.signal);
    if (server.verdict !== "good") return [scope, asNeeded(server)];
    return [scope, server, ...(await examineKey(cli, access))];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [scope, { name: "settings", verdict: "bad", detail: error.message }];
  }
}

/** A server's own machine may start it later. A client cannot. */
function asNeeded({ advice, ...seen }: Examination): Examination {
  const detail = seen.detail.replace("; serve starts it", "");
  const check = `Check the address, and that the server runs. Without EMEND_URL it is ${defaultUrl}.`;
  return { ...seen, verdict: "bad", detail, advice: advice ?? check };
}

async function examineKey(cli: Cli, access: Access): Promise<readonly Examination[]> {
  const name = "key";
  const once = { signal: cli.signal, timeoutMs: answerMsMax, outageMsMax: 0 };
  try {
    const projects = await clientOf(cli, access).projects(once);
    const names = projects.map((project) => project.name).join(", ") || "none";
    const good: Examination = { name, verdict: "good", detail: `${access.keyName} is valid; projects: ${names}` };
    const wanted = cli.env.EMEND_PROJECT;
    if (!wanted || projects.some((project) => project.id === wanted || project.name === wanted)) return [good];
    const detail = `EMEND_PROJECT is ${wanted}, which ${access.keyName} does not cover`;
    return [good, { name: "project", verdict: "bad", detail, advice: "Set it to one of the projects above." }];
  } catch (error) {
    if (!(error instanceof EmendError)) throw error;
    // A service with only the two basic operations lists no projects.
    if (error.kind === "not_found") return [{ name, verdict: "note", detail: "not checked: projects are not listed" }];
    const isRefused = error.kind === "unauthorized";
    const detail = isRefused ? `the server does not take ${access.keyName}` : error.message;
    const advice = "Is it whole, and not expired or revoked? `emend key create` makes another, where the server runs.";
    return [{ name, verdict: "bad", detail, ...(isRefused && { advice }) }];
  }
}

const answerMsMax = 3000;

/** Whether a server answers at the clients' URL. */
export async function examineServer(baseUrl: string, signal: AbortSignal): Promise<Examination> {
  const name = "server";
  const url = baseUrl.replace(/\/+$/, "");
  try {
    const soon = AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]);
    const response = await fetch(`${url}/openapi.json`, { signal: soon, redirect: "manual" });
    await response.body?.cancel();
    const trusted = url.startsWith("https:") ? ", with a trusted certificate" : "";
    if (response.status === 200) {
      const problem = await whyNotReady(url, soon);
      if (problem === null) return { name, verdict: "good", detail: `answers at ${url}${trusted}` };
      return { name, verdict: "bad", detail: `answers at ${url}, and is not ready: ${problem}` };
    }
    return { name, verdict: "bad", detail: `${url} answers ${response.status}: is that Emend?` };
  } catch (error) {
    const { code = "" } = ((error as Error).cause ?? {}) as { code?: string };
    if (/CERT|SSL|VERIFY/.test(code)) {
      const advice =
        "Check its certificate. For a certificate authority of your own, set EMEND_CA_FILE to its PEM file.";
      return { name, verdict: "bad", detail: `no trusted connection to ${url}: ${code}`, advice };
    }
    return { name, verdict: "note", detail: `nothing answers at ${url}; serve starts it` };
  }
}

/** A full disk or a database that is away, in the server's words. Null: nothing, or a proxy does not let us ask. */
async function whyNotReady(url: string, signal: AbortSignal): Promise<string | null> {
  const response = await fetch(`${url}/readyz`, { signal, redirect: "manual" });
  const text = await response.text();
  if (response.status !== 503) return null;
  try {
    return JSON.parse(text).error;
  } catch {
    return "it answers 503";
  }
}
