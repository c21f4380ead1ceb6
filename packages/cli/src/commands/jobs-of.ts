import { Emend, type Jobs } from "@emend/sdk";
import { type Cli, CliError } from "../cli.ts";
import { resolveAccess } from "../profile/resolve-access.ts";

/** The jobs of a project on the server that the environment or the profile names. */
export function jobsOf(cli: Cli, projectId: string): Jobs {
  const { url, key } = resolveAccess(cli);
  return clientOf(url, key).jobs(projectId);
}

export function clientOf(baseUrl: string, apiKey: string): Emend {
  try {
    return new Emend({ baseUrl, apiKey });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError("usage", reason.replace("baseUrl", "EMEND_URL").replace("apiKey", "EMEND_API_KEY"), error);
  }
}
