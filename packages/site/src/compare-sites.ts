import { applySettings, readCheckSettings } from "./check-settings.ts";
import { checkSite, manyAreBroken, tallyLinks } from "./check-site.ts";
import type { CheckSettings } from "./checks/check.ts";
import { unfollowedLinks } from "./checks/links.ts";
import { removedPages } from "./checks/pages.ts";
import { saysAbsence, unseen } from "./links/doubts.ts";
import { checkMdx } from "./parse/check-mdx.ts";
import type { Silencer } from "./parse/silencers.ts";
import { silenceFindings } from "./silence.ts";
import type { Site } from "./site.ts";
import type { Comparison, Finding } from "./types.ts";

/** What a finding says. What to do about it may differ: another page may be near now. */
function subject({ check, message }: Finding): string {
  return `${check}\0${message.split("; ", 1)[0]}`;
}

/** The multiset difference: findings of `left` that `right` lacks. Two equal findings need two matches. */
function without(left: readonly Finding[], right: readonly Finding[], key: (finding: Finding) => string): Finding[] {
  const counts = new Map<string, number>();
  for (const finding of right) counts.set(key(finding), (counts.get(key(finding)) ?? 0) + 1);
  return left.filter((finding) => {
    const count = counts.get(key(finding)) ?? 0;
    if (count > 0) counts.set(key(finding), count - 1);
    return count === 0;
  });
}

function inPlace(finding: Finding): string {
  return `${finding.path}\0${subject(finding)}`;
}

/** New and fixed findings between two checks of one folder. A shifted line does not make a finding new. */
export function diffFindings(
  before: readonly Finding[],
  after: readonly Finding[],
): { introduced: readonly Finding[]; fixed: readonly Finding[] } {
  return { introduced: without(after, before, inPlace), fixed: without(before, after, inPlace) };
}

function certain({ certainty: _, why: __, ...finding }: Finding): Finding {
  return { ...finding, severity: "error" };
}

/** The text of each finding's line. A finding without one can only be compared with itself. */
async function linesAt(site: Site, findings: readonly Finding[]): Promise<ReadonlyMap<Finding, string>> {
  const lines = new Map<Finding, string>();
  for (const [path, found] of Map.groupBy(findings, (finding) => finding.path)) {
    const text = (await site.tree.read(path))?.toString().split(/\r?\n/) ?? [];
    for (const finding of found) {
      const line = text[finding.line - 1]?.trim() ?? "";
      lines.set(finding, line === "" || line === "---" ? `${path}:${finding.line}` : line);
    }
  }
  return lines;
}

/** Pages that the change added or modified. */
function touched(base: Site, head: Site): string[] {
  return [...head.index.nodes.values()]
    .filter(({ path, hash }) => base.index.nodes.get(path)?.hash !== hash)
    .map(({ path }) => path);
}

/** Ignore comments that the base also has: in the same page, or in a deleted page if the page is new. */
export function knownSilencers(base: Site, head: Site): (path: string, silencer: Silencer) => boolean {
  const keyOf = ({ checks, reason }: Silencer): string => `${checks.join()}\0${reason}`;
  const gone = new Set<string>();
  for (const [path, { brief }] of base.index.nodes) {
    if (!head.index.nodes.has(path)) for (const silencer of brief.silencers ?? []) gone.add(keyOf(silencer));
  }
  return (path, silencer) => {
    const before = base.index.nodes.get(path)?.brief;
    const key = keyOf(silencer);
    return before === undefined ? gone.has(key) : (before.silencers ?? []).some((other) => keyOf(other) === key);
  };
}

/** The findings that a change caused and fixed. Shifted lines and moved pages do not make a finding new. */
export async function compareSites(
  base: Site,
  head: Site,
  options: {
    signal?: AbortSignal;
    /**
     * Whose ignore comments count. The base's, unless a person made the change: an agent must not silence its own
     * findings.
     */
    silencers?: "base" | "head";
    /** Default: those of the base. */
    settings?: CheckSettings;
  } = {},
): Promise<Comparison> {
  // Uses the base's settings: a change must not disable the checks that judge it.
  const settings = options.settings ?? (await readCheckSettings(base));
  // A person may add a word to the list together with the page that uses it.
  const forHead = options.silencers === "head" ? { ...settings, rulesFrom: head } : settings;
  const pages = touched(base, head);
  const moved = [...base.index.nodes.keys()].filter((path) => !head.index.nodes.has(path));
  const isTrusted = options.silencers === "head" ? () => true : knownSilencers(base, head);
  const silent = { settings, ran: new Set<string>(), isTrusted };
  const broken = silenceFindings(head, applySettings(await checkMdx(head, pages, options), settings), silent);
  // Earlier errors are not the change's fault. The full parser reads an old page only if the new one fails.
  const brokenBefore =
    broken.length === 0
      ? []
      : silenceFindings(
          base,
          applySettings(await checkMdx(base, [...broken.map(({ path }) => path), ...moved], options), settings),
          { settings, ran: new Set() },
        );
  const before = [...(await checkSite(base, { ...options, settings })), ...brokenBefore];
  const found = [...(await checkSite(head, { ...options, settings: forHead, isTrusted })), ...broken];
  const suspects = without(found, before, inPlace).filter(
    ({ check }) => check === "broken-link" || check === "broken-anchor",
  );
  const removed = await removedPages(base, head, new Set(suspects.map(({ path }) => path)));
  const others = applySettings([...removed, ...unfollowedLinks(base, head)], settings);
  const after = [...found, ...silenceFindings(head, others, silent)];
  // A link of an untouched page led somewhere before: this change took its page away.
  const isUntouched = (path: string) => base.index.nodes.get(path)?.hash === head.index.nodes.get(path)?.hash;
  const doubts = new Set(before.map(({ why }) => why));
  const isCaused = ({ check, certainty, path, why = "" }: Finding): boolean =>
    Object.values<string>(unseen).includes(why) ||
    ((why === manyAreBroken || saysAbsence(why)) && !doubts.has(why)) ||
    (check === "broken-link" && certainty === "likely" && isUntouched(path));
  const introduced = without(after, before, inPlace).flatMap((finding) =>
    isCaused(finding) ? applySettings([certain(finding)], settings) : finding,
  );
  const fixed = without(before, after, inPlace);
  // A moved page keeps its old findings, and so does a line that moved to another page.
  const arrived = (finding: Finding): boolean => !base.index.files.has(finding.path);
  const left = (finding: Finding): boolean => !head.index.files.has(finding.path);
  const withPage = {
    new: [
      ...introduced.filter((finding) => !arrived(finding)),
      ...without(introduced.filter(arrived), fixed.filter(left), subject),
    ],
    gone: [
      ...fixed.filter((finding) => !left(finding)),
      ...without(fixed.filter(left), introduced.filter(arrived), subject),
    ],
  };
  const lineNow = await linesAt(head, withPage.new);
  const lineBefore = await linesAt(base, withPage.gone);
  const byLine = (finding: Finding) => `${subject(finding)}\0${lineNow.get(finding) ?? lineBefore.get(finding)}`;
  const isNew = new Set(without(withPage.new, withPage.gone, byLine));
  const isGone = new Set(without(withPage.gone, withPage.new, byLine));
  return {
    introduced: introduced.filter((finding) => isNew.has(finding)),
    fixed: fixed.filter((finding) => isGone.has(finding)),
    before: before.length,
    after: after.length,
    tally: await tallyLinks(head, options),
  };
}
