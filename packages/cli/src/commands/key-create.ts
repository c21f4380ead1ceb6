import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { parseExpiry, parseRange } from "../parse-options.ts";
import { withAdmin } from "../with-admin.ts";
import { withData, withJson } from "./options.ts";

interface CreateOptions {
  project: readonly string[];
  name: string;
  expires?: Date;
  readOnly?: boolean;
  allow?: readonly string[];
  data?: string;
  json?: boolean;
}

export function registerKeyCreate(key: Command, cli: Cli): void {
  const command = key
    .command("create")
    .description("create a key and print it once")
    .requiredOption("--project <id...>", "project that the key covers; give several for several")
    .option("--name <name>", "where the key will live", "unnamed")
    .option("--expires <when>", "12h, 90d, 4w, 1y or a date (default: never)", (text: string) => parseExpiry(text))
    .option("--read-only", "the key may read jobs and create none")
    .option("--allow <range...>", "addresses or ranges that may use it (default: any)", parseRange);
  withJson(withData(command)).action((options: CreateOptions) => createKey(cli, options));
}

async function createKey(cli: Cli, options: CreateOptions): Promise<void> {
  const created = await withAdmin(cli, options, (admin) =>
    admin.createKey({
      projectIds: options.project,
      name: options.name,
      scope: options.readOnly ? "read" : "write",
      ...(options.expires === undefined ? {} : { expiresAt: options.expires }),
      ...(options.allow === undefined ? {} : { allowList: options.allow }),
    }),
  );
  printResult(cli, options, created, created.key);
  say(cli, options, `This is the only time that the key is shown. To revoke it: emend key revoke ${created.id}`);
}
