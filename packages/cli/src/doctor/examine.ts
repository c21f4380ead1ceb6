import { resolve } from "node:path";
import type { Cli } from "../cli.ts";
import { examineDataDir } from "./examine-data-dir.ts";
import { examineDatabase } from "./examine-database.ts";
import { examineGit } from "./examine-git.ts";
import { examineModels } from "./examine-model.ts";
import { examineServer } from "./examine-server.ts";

export interface Examination {
  name: string;
  /** note: nothing is wrong, but it is worth knowing. */
  verdict: "good" | "note" | "bad";
  detail: string;
  advice?: string;
}

/** Looks at everything once and changes nothing. */
export async function examine(cli: Cli, options: { data?: string }): Promise<readonly Examination[]> {
  const node: Examination = { name: "node", verdict: "good", detail: process.version };
  const git = await examineGit();
  const { isMade, loadConfig, openAdmin, tryModel } = await import("@emend/server");
  let config: ReturnType<typeof loadConfig>;
  try {
    // Log lines go to standard output, which belongs to the result.
    const env = { ...cli.env, EMEND_LOG_LEVEL: "silent" };
    config = loadConfig(env, options.data === undefined ? {} : { dataDir: resolve(options.data) });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ConfigError") throw error;
    return [node, git, { name: "settings", verdict: "bad", detail: error.message.replaceAll("\n", "; ") }];
  }
  const dataDir = await examineDataDir(config.dataDir);
  const { serverUrl, ...database } = await examineDatabase({ openAdmin, isMade }, config);
  const url = cli.env.EMEND_URL || serverUrl || config.publicUrl || `http://${config.host}:${config.port}`;
  return [
    node,
    git,
    { name: "settings", verdict: "good", detail: `role ${config.role}, ${config.host}:${config.port}` },
    ...config.unknownSettings.map(
      ({ variable, nearest }): Examination => ({
        name: "settings",
        verdict: "note",
        detail: `${variable} is set, and nothing reads it`,
        ...(nearest && { advice: `Was ${nearest} meant?` }),
      }),
    ),
    dataDir,
    database,
    await examineServer(url, cli.signal),
    ...(await examineModels({ tryModel, env: cli.env }, config)),
    config.publicUrl
      ? { name: "public url", verdict: "good", detail: config.publicUrl }
      : {
          name: "public url",
          verdict: "note",
          detail: "EMEND_PUBLIC_URL is not set: links name the address that the server listens on",
        },
  ];
}
