import type { DashboardSession } from "@emend/contract";

/** Commands for empty pages; each runs as copied. */
export const addProjectLine = 'emend project add "My docs" --forge local --repo .';

export function createJobLine(projectId: string): string {
  return `emend job create ${projectId} "Fix broken links." --wait`;
}

/** Null: there is no project yet, so it is added too. */
export function createKeyLine(projectId: string | null): string {
  return `emend key create --project ${projectId ?? `"$(${addProjectLine})"`} --name CI --expires 90d`;
}

/** Quoted for a shell. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Commands that only need the server's URL. */
const remote = new Set(["check", "job", "login", "mcp", "profile"]);

/** A command that starts with `emend`, as it is typed where the server runs. */
export function asTyped(text: string, session: Pick<DashboardSession, "command" | "dataDir"> | undefined): string {
  if (!session) return text;
  const { command, dataDir } = session;
  const local = dataDir === null ? command : `EMEND_DATA_DIR=${shellWord(dataDir)} ${command}`;
  return text.replace(
    /(^ *|\$\()emend (\w+)/gm,
    (_all, before: string, name: string) => `${before}${remote.has(name) ? command : local} ${name}`,
  );
}
