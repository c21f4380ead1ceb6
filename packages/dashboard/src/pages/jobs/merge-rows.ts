import type { DashboardJobPage, DashboardJobRow } from "@emend/contract";

type Merged = { kind: "rows"; rows: readonly DashboardJobRow[] } | { kind: "gap" };

/** What was loaded, with newer jobs above it and newer states in it. Rows that no longer belong here are left out. */
export function mergeRows(
  loaded: readonly DashboardJobRow[],
  fresh: { head: DashboardJobPage | null; watched: readonly DashboardJobRow[]; status: string | undefined },
): Merged {
  const { head, watched, status } = fresh;
  if (!head) return { kind: "rows", rows: loaded };
  const loadedIds = new Set(loaded.map(({ id }) => id));
  const news = head.jobs.filter(({ id }) => !loadedIds.has(id));
  if (loaded.length > 0 && head.nextCursor !== null && news.length === head.jobs.length) return { kind: "gap" };

  const byId = new Map([...watched, ...head.jobs].map((job) => [job.id, job]));
  // Of the newest page's reach, what it does not hold has gone: it was archived, or has another status by now.
  const reach = head.nextCursor === null ? "" : (head.jobs.at(-1)?.id ?? "");
  const kept = loaded.flatMap((job) => {
    const now = byId.get(job.id);
    if (!now) return job.id > reach ? [] : [job];
    const isElsewhere = status === undefined ? now.status === "archived" : now.status !== status;
    return isElsewhere ? [] : [now];
  });
  // Newest first: ids sort by creation.
  return { kind: "rows", rows: [...news, ...kept].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)) };
}
