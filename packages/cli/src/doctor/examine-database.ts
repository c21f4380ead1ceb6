import type { Config, isMade, openAdmin } from "@emend/server";
import type { Examination } from "./examine.ts";

/** Asks the database. An embedded one that was never made is left unmade: looking must not change anything. */
export async function examineDatabase(
  deps: { openAdmin: typeof openAdmin; isMade: typeof isMade },
  config: Config,
): Promise<Examination & { serverUrl?: string }> {
  const name = "database";
  const what = config.databaseUrl === null ? "embedded Postgres" : `Postgres at ${hostOf(config.databaseUrl)}`;
  if (!deps.isMade(config)) {
    return { name, verdict: "bad", detail: `${what}: nothing here yet`, advice: "`emend serve` makes it." };
  }
  try {
    const admin = await deps.openAdmin(config, { migrates: false });
    try {
      const projects = await admin.listProjects();
      const detail = `${what} answers; projects: ${projects.length}`;
      return { name, verdict: "good", detail, serverUrl: await admin.url() };
    } finally {
      await admin.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const { detail, advice } = unmade(error) ?? { detail: reason };
    return { name, verdict: "bad", detail: `${what}: ${detail}`, ...(advice === undefined ? {} : { advice }) };
  }
}

/** By what Postgres says of tables, or columns, that no server of this release made yet. */
function unmade(error: unknown): Pick<Examination, "detail" | "advice"> | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "42P01") return { detail: "nothing here yet", advice: "`emend serve` makes it." };
  if (code !== "42703") return null;
  return { detail: "its tables are of an older release", advice: "`emend serve` brings them up to date." };
}

/** Never the user or the password. */
function hostOf(databaseUrl: string): string {
  return URL.parse(databaseUrl)?.host || "EMEND_DATABASE_URL";
}
