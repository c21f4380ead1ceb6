import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import tls from "node:tls";
import { Emend, EmendError, type Jobs } from "@emend/sdk";
import type { Admin } from "@emend/server";
import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { type Access, resolveAccess } from "../profile/profile-file.ts";

export const projectWords = "the project's id or name (default: EMEND_PROJECT, or the only project)";

/** Adds an optional project before a command's other arguments. If omitted, the first word is the next argument. */
export function withProject(command: Command, rest: readonly (readonly [name: string, words: string])[]): Command {
  command.argument("[project]", projectWords);
  for (const [name, words] of rest) command.argument(`[${name}]`, words);
  return command.usage(`[options] [project]${rest.map(([name]) => ` <${name}>`).join("")}`);
}

/** Splits such a command's words: the project, if given, and the others. */
export function splitWords(
  words: readonly (string | undefined)[],
  names: readonly string[],
): { project: string | undefined; rest: string[] } {
  const given = words.filter((word) => word !== undefined);
  if (given.length > names.length) return { project: given[0], rest: given.slice(1) };
  // A lone project id is a project, even if other arguments are missing.
  const missing = given[0]?.startsWith("prj_") ? names[given.length - 1] : names[given.length];
  if (missing !== undefined) throw new CliError("usage", `missing required argument '${missing}'`);
  return { project: undefined, rest: given };
}

/** The jobs of a project on the server in the environment or the profile. */
export async function jobsOf(cli: Cli, given: string | undefined): Promise<{ jobs: Jobs; project: string }> {
  const { client, project } = await projectOf(cli, given);
  return { jobs: client.jobs(project), project };
}

export async function projectOf(cli: Cli, given: string | undefined): Promise<{ client: Emend; project: string }> {
  const client = clientOf(cli, resolveAccess(cli));
  return { client, project: await resolveProject(cli, client, given ?? (cli.env.EMEND_PROJECT || undefined)) };
}

/** An id is used as it is; anything else is looked up. */
async function resolveProject(cli: Cli, client: Emend, given: string | undefined): Promise<string> {
  if (given?.startsWith("prj_")) return given;
  const projects = await client.projects({ signal: cli.signal }).catch((error) => {
    // A service with only the two basic operations lists no projects, and its ids may have any form.
    if (given !== undefined && error instanceof EmendError && error.kind === "not_found") return null;
    throw error;
  });
  if (projects === null) return given as string;
  const found = given === undefined ? projects : projects.filter(({ id, name }) => id === given || name === given);
  if (found.length === 1 && found[0]) return found[0].id;
  if (found.length === 0) {
    const what = given === undefined ? "This key covers no project" : `This key does not cover ${given}`;
    throw new CliError("refused", `Project not found. ${what}; it covers ${names(projects)}`);
  }
  const which = given === undefined ? "this key covers several projects" : `several projects have the name ${given}`;
  throw new CliError("usage", `${which}; name one, or set EMEND_PROJECT: ${names(found)}`);
}

function names(projects: readonly { id: string; name: string }[]): string {
  return projects.map(({ id, name }) => `${id} (${name})`).join(", ") || "none";
}

/** The same for console commands. */
export function projectIdOf(cli: Cli, admin: Pick<Admin, "projectId">, given: string | undefined): Promise<string> {
  return admin.projectId(given ?? (cli.env.EMEND_PROJECT || undefined));
}

/** Errors about the URL or the key name the variable or profile that it came from. */
export function clientOf(cli: Pick<Cli, "env">, { url, key, urlName, keyName }: Access): Emend {
  trustCaFile(cli.env);
  try {
    return new Emend({ baseUrl: url, apiKey: key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError("usage", reason.replace("baseUrl", urlName).replace("apiKey", keyName), error);
  }
}

/** Requests of this process also trust the certificate authorities in EMEND_CA_FILE, as the server does with its own. */
export function trustCaFile({ EMEND_CA_FILE: file }: NodeJS.ProcessEnv): void {
  if (!file) return;
  // Node 22.18 has no such function.
  if (!tls.setDefaultCACertificates) {
    const advice = "set NODE_EXTRA_CA_CERTS to the same file, or use Node 22.19 or newer";
    throw new CliError(
      "usage",
      `EMEND_CA_FILE has no effect on commands with Node ${process.versions.node}; ${advice}`,
    );
  }
  const own = readCertificates(file);
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), ...own]);
}

function readCertificates(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : "cannot be read";
    throw new CliError("usage", `EMEND_CA_FILE names ${file}, which ${reason}`, error);
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? [];
  try {
    if (found.length === 0) throw new Error("no certificate");
    for (const one of found) new X509Certificate(one);
    return found;
  } catch (error) {
    throw new CliError(
      "usage",
      `EMEND_CA_FILE names ${file}, which contains no certificate; expected are certificates in PEM`,
      error,
    );
  }
}
