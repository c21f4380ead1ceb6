import type { DashboardSession } from "@emend/contract";

/** Lines to type in a terminal, wherever a page has nothing to show yet: each runs as it is copied. */
export const addProjectLine = 'emend project add "My docs" --forge local --repo .';

export function createJobLine(projectId: string): string {
  return `emend job create ${projectId} "Fix broken links." --wait`;
}

/** Null: there is no project yet, and it is added by the way. */
export function createKeyLine(projectId: string | null): string {
  return `emend key create --project ${projectId ?? `"$(${addProjectLine})"`} --name CI --expires 90d`;
}

/** As a shell takes it, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** They reach the server by its address and need none of its files. */
const remote = new Set(["check", "job", "login", "mcp", "profile"]);

/** A line that begins with `emend`, as it is typed where the server runs. */
export function asTyped(text: string, session: Pick<DashboardSession, "command" | "dataDir"> | undefined): string {
  if (!session) return text;
  const { command, dataDir } = session;
  const local = dataDir === null ? command : `EMEND_DATA_DIR=${shellWord(dataDir)} ${command}`;
  return text.replace(
    /(^ *|\$\()emend (\w+)/gm,
    (_all, before: string, name: string) => `${before}${remote.has(name) ? command : local} ${name}`,
  );
}
