import { Emend, type Jobs } from "@emend/sdk";
import { type Cli, CliError } from "../cli.ts";
import { type Access, resolveAccess } from "../profile/resolve-access.ts";

/** The jobs of a project on the server that the environment or the profile names. */
export function jobsOf(cli: Cli, projectId: string): Jobs {
  return clientOf(resolveAccess(cli)).jobs(projectId);
}

/** What is wrong with the address or the key is told by the name of whoever gave it. */
export function clientOf({ url, key, urlName, keyName }: Access): Emend {
  try {
    return new Emend({ baseUrl: url, apiKey: key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError("usage", reason.replace("baseUrl", urlName).replace("apiKey", keyName), error);
  }
}
