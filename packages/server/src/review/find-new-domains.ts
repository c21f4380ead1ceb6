import type { Finding } from "@emend/site";
import type { Tree } from "../tree/tree.ts";
import type { Added } from "./added-lines.ts";

const domainsMax = 50;
const address =
  /(!\[[^\]\n]{0,500}\]\(\s{0,10}<?|\bsrc\s{0,10}=\s{0,10}\{?["'`]?)?(?:https?:|(?<=["'(=]))\/\/([\p{L}\p{N}.-]{1,253}\.[\p{L}\p{N}-]{2,63})/giu;

/** Other sites that the change is the first to point at. What a page loads by itself weighs more than a link. */
export async function findNewDomains(added: Added, base: Tree, signal: AbortSignal): Promise<readonly Finding[]> {
  const first = new Map<string, Finding>();
  for (const { path, line, text } of added.lines) {
    for (const match of text.matchAll(address)) {
      const [, loads, host = ""] = match;
      const domain = host.toLowerCase();
      const severity = loads === undefined ? "warning" : "error";
      const earlier = first.get(domain);
      if (earlier && (earlier.severity === "error" || severity === "warning")) continue;
      const message =
        loads === undefined
          ? `the first link to ${domain}`
          : `the first image or frame that readers would load from ${domain}`;
      first.set(domain, { check: "new-domain", severity, path, line, column: match.index + 1, message });
    }
  }
  const findings: Finding[] = [];
  for (const [domain, finding] of [...first].slice(0, domainsMax)) {
    const { matches } = await base.search(
      { pattern: domain, kind: "literal", ignoreCase: true, matchesMax: 1 },
      signal,
    );
    if (matches.length === 0) findings.push(finding);
  }
  return findings;
}
