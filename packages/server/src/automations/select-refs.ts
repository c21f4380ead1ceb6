import { matchesGlob } from "../lib/matches-glob.ts";
import type { Trigger } from "./automation.ts";

/** A repository's branches and tags by full name, with their commits. */
export interface RemoteRefs {
  ids: ReadonlyMap<string, string>;
  defaultBranch: string | null;
}

/** A push. Without `from` there is nothing to compare with. */
export interface RefEvent {
  ref: string;
  tag: string | null;
  from: string | null;
  to: string;
}

const heads = "refs/heads/";
const tags = "refs/tags/";

/** The refs that a push trigger watches; tags are resolved to their commits. */
export function watchedRefs(
  trigger: Extract<Trigger, { kind: "push" }>,
  refs: RemoteRefs,
  baseRef: string | null,
): ReadonlyMap<string, string> {
  const isDefault = trigger.branches.length === 0 && trigger.tags.length === 0;
  const branches = isDefault ? [baseRef ?? refs.defaultBranch ?? ""] : trigger.branches;
  const matches = (patterns: readonly string[], name: string) => patterns.some((each) => matchesGlob(each, name));
  const watched = new Map<string, string>();
  for (const [ref, id] of refs.ids) {
    const isBranch = ref.startsWith(heads) && matches(branches, ref.slice(heads.length));
    const isTag = ref.startsWith(tags) && !ref.endsWith("^{}") && matches(trigger.tags, ref.slice(tags.length));
    if (isBranch || isTag) watched.set(ref, refs.ids.get(`${ref}^{}`) ?? id);
  }
  return watched;
}

/** Pushes since the last poll. Deleted refs do not count. */
export function pushesSince(
  known: ReadonlyMap<string, string>,
  watched: ReadonlyMap<string, string>,
  head: string | null,
): readonly RefEvent[] {
  const events: RefEvent[] = [];
  for (const [ref, to] of watched) {
    const before = known.get(ref);
    if (before === to) continue;
    const tag = ref.startsWith(tags) ? ref.slice(tags.length) : null;
    // A new branch is compared with the default branch, a new tag with the previous tag.
    const from = before ?? (tag === null ? head : tagBefore(known, ref));
    events.push({ ref, tag, from: from === to ? null : from, to });
  }
  return events;
}

/** By version number: v1.9 comes before v1.10. */
function tagBefore(known: ReadonlyMap<string, string>, ref: string): string | null {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const earlier = [...known].filter(([name]) => name.startsWith(tags) && compare(name, ref) < 0);
  return earlier.sort(([left], [right]) => compare(left, right)).at(-1)?.[1] ?? null;
}

/** The files that match. One is enough for the trigger. */
export function passingFiles(
  trigger: Pick<Extract<Trigger, { kind: "push" }>, "include" | "exclude">,
  files: readonly string[],
): readonly string[] {
  const { include, exclude } = trigger;
  return files.filter(
    (file) =>
      (include.length === 0 || include.some((pattern) => matchesGlob(pattern, file))) &&
      !exclude.some((pattern) => matchesGlob(pattern, file)),
  );
}
