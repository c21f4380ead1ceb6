import { access } from "node:fs/promises";
import type { Config, openAdmin } from "@emend/server";
import type { Examination } from "./examine.ts";

/** Asks the database. An embedded one that was never made is left unmade: looking must not change anything. */
export async function examineDatabase(
  deps: { openAdmin: typeof openAdmin },
  config: Config,
): Promise<Examination & { serverUrl?: string }> {
  const name = "database";
  const what = config.databaseUrl === null ? "embedded Postgres" : `Postgres at ${hostOf(config.databaseUrl)}`;
  if (config.databaseUrl === null && !(await exists(config.dataDir))) {
    return { name, verdict: "note", detail: `${what}, made when serve starts for the first time` };
  }
  try {
    const admin = await deps.openAdmin(config);
    try {
      const projects = await admin.listProjects();
      const detail = `${what} answers; projects: ${projects.length}`;
      return { name, verdict: "good", detail, serverUrl: await admin.url() };
    } finally {
      await admin.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, verdict: "bad", detail: `${what}: ${reason}` };
  }
}

/** Never the user or the password. */
function hostOf(databaseUrl: string): string {
  return URL.parse(databaseUrl)?.host || "EMEND_DATABASE_URL";
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
