/** Lines to type in a terminal, wherever a page has nothing to show yet: each runs as it stands. */
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
