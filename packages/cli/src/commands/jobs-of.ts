import { Emend, type Jobs } from "@emend/sdk";
import { type Cli, CliError } from "../cli.ts";

/** The jobs of a project on the server that the environment names. */
export function jobsOf(cli: Cli, projectId: string): Jobs {
  const baseUrl = cli.env.EMEND_URL || "http://127.0.0.1:4600";
  const apiKey = cli.env.EMEND_API_KEY;
  if (!apiKey) {
    throw new CliError("usage", "EMEND_API_KEY is not set; `emend key create --project ID` makes a key");
  }
  try {
    return new Emend({ baseUrl, apiKey }).jobs(projectId);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError("usage", reason.replace("baseUrl", "EMEND_URL").replace("apiKey", "EMEND_API_KEY"), error);
  }
}
