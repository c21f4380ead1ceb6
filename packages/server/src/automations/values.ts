/** What a template may name, and what each stands for. */
export const variables = ["commits", "changed_files", "tag", "date", "repository"] as const;
export type Variable = (typeof variables)[number];

/** Lists are one entry a commit or file, oldest first, so that events can be taken together. */
export interface Values {
  commits: readonly string[];
  changedFiles: readonly string[];
  tag: string | null;
  /** By the trigger's time zone, `2026-11-15`. */
  date: string;
  repository: string;
}

/** Several events as one: what each brought, and the last word on the rest. */
export function mergeValues(first: Values, ...others: readonly Values[]): Values {
  return others.reduce(
    (merged, next) => ({
      commits: [...merged.commits, ...next.commits],
      changedFiles: [...new Set([...merged.changedFiles, ...next.changedFiles])],
      tag: next.tag ?? merged.tag,
      date: next.date,
      repository: next.repository,
    }),
    first,
  );
}

/** The day of an instant as people in a time zone call it. */
export function dayOf(at: Date, timezone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short" }).format(at);
}
