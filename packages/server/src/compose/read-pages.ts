import { isUtf8 } from "node:buffer";
import type { CommitTree, Mirrors, SearchMatch } from "@emend/tree";
import type { Queryable } from "../db/pool.ts";

const pageBytesMax = 512 * 1024;
const pagesMax = 2_000;

/**
 * The docs of projects as this node's mirrors have them. It may have none, or one that has moved on: then there are no
 * texts, and nothing is fetched for it.
 */
export function createPagesReader({ pool, mirrors }: { pool: Queryable; mirrors: Mirrors }) {
  const treeAt = async (projectId: string, commit: string) => (await mirrors.open(projectId)).treeAt(commit);

  /** As they were checked last. Null: they were not. */
  async function checkedTree(projectId: string): Promise<CommitTree | null> {
    const { rows } = await pool.query<{ commit: string }>(
      `select commit_id as commit from site_checks where project_id = $1 and commit_id is not null
       order by checked_at desc limit 1`,
      [projectId],
    );
    return rows[0] ? treeAt(projectId, rows[0].commit) : null;
  }

  return {
    async readPage(projectId: string, commit: string, path: string): Promise<string | null> {
      const bytes = await (await treeAt(projectId, commit)).read(path).catch(() => null);
      return bytes && bytes.length <= pageBytesMax && isUtf8(bytes) ? bytes.toString("utf8") : null;
    },

    async listPages(projectId: string): Promise<readonly string[]> {
      const entries = (await (await checkedTree(projectId))?.list().catch(() => [])) ?? [];
      return entries
        .map(({ path }) => path)
        .filter((path) => /\.mdx?$/i.test(path))
        .slice(0, pagesMax);
    },

    async searchPages(
      projectId: string,
      search: { text: string; accepts(path: string): boolean; matchesMax: number },
      signal: AbortSignal,
    ): Promise<readonly Pick<SearchMatch, "path" | "line" | "text">[]> {
      const { text: pattern, ...bounds } = search;
      const query = { pattern, kind: "literal", ignoreCase: true, ...bounds } as const;
      const found = await (await checkedTree(projectId))?.search(query, signal).catch(() => {
        signal.throwIfAborted();
        return null;
      });
      return (found?.matches ?? []).map(({ path, line, text }) => ({ path, line, text }));
    },
  };
}
