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
  const { isMade, openAdmin, readConfig, tryModel } = await import("@emend/server");
  // Log lines go to standard output, which belongs to the result.
  const env = { ...cli.env, EMEND_LOG_LEVEL: "silent" };
  const { config, problems } = readConfig(env, options.data === undefined ? {} : { dataDir: resolve(options.data) });
  // What rests on a setting that cannot be right would be told wrongly.
  const unless = (names: RegExp, name: string, look: () => Promise<readonly Seen[]>): Promise<readonly Seen[]> =>
    problems.some((problem) => names.test(problem))
      ? Promise.resolve([{ name, verdict: "note", detail: "not looked at: its settings come first" }])
      : look();
  // Opening it without the secret that was meant would make one.
  const database = await unless(/EMEND_(DATABASE_URL|SECRET|DATA_DIR)|--data/, "database", async () => [
    await examineDatabase({ openAdmin, isMade }, config),
  ]);
  const serverUrl = database[0]?.serverUrl;
  const url = cli.env.EMEND_URL || serverUrl || config.publicUrl || `http://${config.host}:${config.port}`;
  const settings: Examination[] = problems.map((detail) => ({ name: "settings", verdict: "bad", detail }));
  const good: Examination = {
    name: "settings",
    verdict: "good",
    detail: `role ${config.role}; serve listens on ${config.host}:${config.port} unless told otherwise`,
  };
  return [
    node,
    git,
    ...(settings.length === 0 ? [good] : settings),
    ...config.unknownSettings.map(
      ({ variable, nearest }): Examination => ({
        name: "settings",
        verdict: "note",
        detail: `${variable} is set, and nothing reads it`,
        ...(nearest && { advice: `Was ${nearest} meant?` }),
      }),
    ),
    ...(await unless(/EMEND_DATA_DIR|--data/, "data", async () => [await examineDataDir(config.dataDir)])),
    ...database.map(({ serverUrl: _, ...seen }) => seen),
    ...(await unless(/EMEND_(HOST|PORT|PUBLIC_URL)/, "server", async () => [await examineServer(url, cli.signal)])),
    ...(await unless(aboutModels, "model", () => examineModels({ tryModel, env: cli.env }, config))),
    ...(await unless(/EMEND_PUBLIC_URL/, "public url", async () => [examinePublicUrl(config.publicUrl)])),
  ];
}

type Seen = Examination & { serverUrl?: string };

/** By the names of the settings that reach a model. */
const aboutModels = /MODEL|_BASE_URL|_API_KEY|RUNNER|PROXY|EMEND_CA/;

function examinePublicUrl(publicUrl: string | null): Examination {
  const name = "public url";
  if (publicUrl) return { name, verdict: "good", detail: publicUrl };
  const detail = "EMEND_PUBLIC_URL is not set: links name the address that the server listens on";
  return { name, verdict: "note", detail };
}
