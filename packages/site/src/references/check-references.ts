import { quoted } from "../checks/report.ts";
import type { Site } from "../site.ts";
import type { Finding } from "../types.ts";
import { compareReferences, type StaleReference } from "./compare-references.ts";
import { isDefinedIn } from "./defined-in.ts";
import type { CodeReference } from "./find-references.ts";
import { mayBeGone } from "./probes.ts";
import { readSiteReferences } from "./site-references.ts";
import type { SourceIndex } from "./source-index.ts";

/** The check for references to code that the sources no longer have. */
export const staleReferenceCheck = "stale-reference";

/** A source repository at two revisions. */
export interface Source {
  after: SourceIndex;
  /** The state that all pages agree with, if it is one. Then what the code says about options is compared too. */
  base?: string;
  /**
   * A name for the state that the page last agreed with, such as a commit. Null: unknown, so the page is not checked.
   */
  baseOf(page: string): Promise<string | null>;
  /** The sources in that state. Requested one state at a time. */
  before(base: string): Promise<SourceIndex>;
  /** Old path → new path of files that git detects as renamed since. */
  renames?(base: string): Promise<ReadonlyMap<string, string>>;
  /** The change that removed it, as text: `1a2b3c4 (Jane Doe, "Rename the flag")`. */
  causeOf?(base: string, stale: StaleReference): Promise<string | null>;
}

/** Reports references that the sources had when the page last agreed with them, and no longer have. */
export async function checkReferences(
  site: Site,
  sources: readonly Source[],
  options: { signal?: AbortSignal } = {},
): Promise<Finding[]> {
  const pages = await readSiteReferences(site, options);
  const findings: Finding[] = [];
  for (const source of sources) {
    const others = sources.filter((other) => other !== source).map(({ after }) => after);
    for (const [base, references] of await suspectsByBase(pages, source)) {
      options.signal?.throwIfAborted();
      const before = await source.before(base);
      const gone = await compareReferences(references, before, source.after, options);
      // Rename detection is git's slowest step, and most states do not need it.
      const renames = gone.length === 0 ? undefined : await source.renames?.(base);
      const compared = { ...options, ...(renames && { renames }) };
      const named = gone.map(({ reference }) => reference);
      for (const stale of await compareReferences(named, before, source.after, compared)) {
        // Code that moved to another source repository is still known.
        if (await isDefinedIn(others, stale.reference, options)) continue;
        findings.push(staleFinding(stale, (await source.causeOf?.(base, stale)) ?? null));
      }
    }
  }
  return findings;
}

/** Only a reference that is missing now can be stale: other pages need no earlier state. */
async function suspectsByBase(
  pages: Awaited<ReturnType<typeof readSiteReferences>>,
  source: Source,
): Promise<Map<string, CodeReference[]>> {
  const byBase = new Map<string, CodeReference[]>();
  for (const [page, { references }] of pages) {
    const suspects = references.filter((reference) => mayBeGone(reference, source.after));
    const base = suspects.length === 0 ? null : await source.baseOf(page);
    if (base === null) continue;
    const known = byBase.get(base);
    if (known === undefined) byBase.set(base, suspects);
    else for (const suspect of suspects) known.push(suspect);
  }
  return byBase;
}

/** A stale reference as a finding. `by`: the change that caused it, as text. */
export function staleFinding(stale: StaleReference, by: string | null): Finding {
  const { reference, gone, cause, paths, isCertain, fix } = stale;
  const { page: path, line, column, text } = reference;
  const part = text === gone ? "" : ` (in ${quoted(text)})`;
  const since = by === null ? "" : ` by ${by}`;
  const doubt = isCertain ? "" : " if it means this one";
  const generated = reference.inGenerated ? " The page is generated: change what it is made from." : "";
  const message =
    cause.kind === "renamed"
      ? `${quoted(gone)}${part} was renamed to ${quoted(cause.to)}${since}. Use the new name${doubt}.${generated}`
      : `${quoted(gone)}${part} is no longer in the sources${where(paths)}: removed${since}. Correct the page${doubt}.${generated}`;
  const place = { check: staleReferenceCheck, path, line, column, message };
  return isCertain
    ? { ...place, severity: "error", ...(fix && { fix }) }
    : { ...place, severity: "warning", certainty: "likely", why: "another package may have it" };
}

function where([first]: readonly string[]): string {
  return first === undefined ? "" : ` (${first} had it)`;
}
