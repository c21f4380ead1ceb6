import type { Command } from "commander";

export const forges = ["local", "github", "gitlab", "gitea"];

/** Options that several commands share, each worded once. */

export function withJson(command: Command): Command {
  return command.option("--json", "print the result as JSON");
}

export function withData(command: Command): Command {
  return command.option("--data <dir>", "the installation's data directory (default: EMEND_DATA_DIR or ~/.emend)");
}
