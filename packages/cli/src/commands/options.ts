import type { ForgeName } from "@emend/contract";
import type { Command } from "commander";

/** The usual variable of each forge's token. */
export const usualVariables: Readonly<Record<Exclude<ForgeName, "local">, string>> = {
  github: "GITHUB_TOKEN",
  gitlab: "GITLAB_TOKEN",
  gitea: "GITEA_TOKEN",
  bitbucket: "BITBUCKET_TOKEN",
};
export const forges: readonly string[] = ["local", ...Object.keys(usualVariables)];

/** Options that several commands share. */

export function withJson(command: Command): Command {
  return command.option("--json", "print the result as JSON");
}

export function withData(command: Command): Command {
  return command.option("--data <dir>", "the installation's data directory (default: EMEND_DATA_DIR or ~/.emend)");
}
