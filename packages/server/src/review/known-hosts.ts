import { domainToUnicode } from "node:url";
import { hostsIn } from "../lib/hosts-in.ts";
import { matchesGlob } from "../lib/matches-glob.ts";
import type { Tree } from "../tree/tree.ts";

/** Lines that name a host in one way or another, of which one must point at it. */
const matchesMax = 1_000;
const longLine = 300;
const filesMax = 50;

/** What a change may point at beside what the repository points at already. */
export interface HostRules {
  /** Hosts, or patterns such as `*.acme.dev`; `*`: any, and a new one is only told. */
  allowed: readonly string[];
  /** What people asked for: the hosts that they named may be used. */
  asked: readonly string[];
}

/** Says of each host whether a change may bring it in: a page must not talk an agent into calling somebody else. */
export interface KnownHosts {
  /** flagged: new, and let in by `*` alone. */
  judge(host: string, signal: AbortSignal): Promise<"known" | "flagged" | "refused">;
}

export function createKnownHosts(base: Tree, rules: HostRules): KnownHosts {
  const asked = new Set(rules.asked.flatMap((text) => [...hostsIn(text)]));
  const named = rules.allowed.filter((pattern) => pattern !== "*").map((pattern) => pattern.toLowerCase());
  const unknown = rules.allowed.includes("*") ? "flagged" : "refused";
  const judged = new Map<string, "known" | "flagged" | "refused">();
  return {
    async judge(host, signal) {
      const earlier = judged.get(host);
      if (earlier) return earlier;
      const isNamed = asked.has(host) || named.some((pattern) => matchesGlob(pattern, host));
      const verdict = isNamed || (await holds(base, host, signal)) ? "known" : unknown;
      judged.set(host, verdict);
      return verdict;
    },
  };
}

/** As the site of an address, however the repository spells it: a file's name or a part of another site's is none. */
async function holds(base: Tree, host: string, signal: AbortSignal): Promise<boolean> {
  for (const spelling of new Set([host, domainToUnicode(host) || host])) {
    // Narrow, so that mere words do not use up the matches.
    const pattern = `(^|[^[:alnum:]_.-])${spelling.replaceAll(/[.[\](){}*+?^$|\\]/g, "\\$&")}`;
    const { matches } = await base.search({ pattern, kind: "regex", ignoreCase: true, matchesMax }, signal);
    if (matches.some(({ text }) => hostsIn(text).has(host))) return true;
    // A search shows the beginning of a long line only.
    const cut = new Set(matches.filter(({ text }) => text.length >= longLine).map(({ path }) => path));
    for (const path of [...cut].slice(0, filesMax)) {
      if (hostsIn((await base.read(path))?.toString() ?? "").has(host)) return true;
    }
  }
  return false;
}
