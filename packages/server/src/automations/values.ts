/** The variables of a template. */
export const variables = [
  "commits",
  "changed_files",
  "tag",
  "date",
  "repository",
  "pull_request",
  "title",
  "description",
  "diff",
  "issues",
] as const;
export type Variable = (typeof variables)[number];

/** Lists have one entry per commit or file, oldest first, so that events can be merged. */
export interface Values {
  commits: readonly string[];
  changedFiles: readonly string[];
  tag: string | null;
  /** In the trigger's time zone, `2026-11-15`. */
  date: string;
  repository: string;
  /** Of pull request triggers alone, one entry for each that started the run. */
  pulls?: readonly PullValues[];
}

export interface PullValues {
  url: string;
  /** `opened`, `updated` or `merged`. */
  event: string;
  title: string;
  description: string;
  diff: string;
  /** As its title, description and commits name them. */
  issues: readonly string[];
}

/** Merges several events: the lists of all, and the last value of the rest. */
export function mergeValues(first: Values, ...others: readonly Values[]): Values {
  return others.reduce(
    (merged, next) => ({
      commits: [...merged.commits, ...next.commits],
      changedFiles: [...new Set([...merged.changedFiles, ...next.changedFiles])],
      tag: next.tag ?? merged.tag,
      date: next.date,
      repository: next.repository,
      ...((merged.pulls ?? next.pulls) && { pulls: [...(merged.pulls ?? []), ...(next.pulls ?? [])] }),
    }),
    first,
  );
}

/** The date of an instant in a time zone. */
export function dayOf(at: Date, timezone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short" }).format(at);
}
