import { siteBlocks } from "../drift/site-blocks.ts";
import type { Source } from "../references/check-references.ts";
import type { Site } from "../site.ts";
import type { Finding } from "../types.ts";
import { changedFacts } from "./changed-facts.ts";
import { compareFacts, type StaleFact } from "./compare-facts.ts";

/** What the pages say about facts that changed between two states of the sources, where all pages agree with the earlier one. */
export async function checkFacts(
  site: Site,
  sources: readonly Source[],
  options: { signal?: AbortSignal } = {},
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { base, before, after } of sources) {
    const changed = base === undefined ? [] : await changedFacts(await before(base), after, options);
    if (changed.length === 0) continue;
    for (const fact of compareFacts(changed, await siteBlocks(site, options))) findings.push(factFinding(fact));
  }
  return findings;
}

/** What a page shows beside a fact's name is an error; what a list of siblings lacks, or what may be another's, is not. */
export function factFinding(fact: StaleFact): Finding {
  const { kind, path, line, part, was, block, pageLine, isUnnamed } = fact;
  const isIncomplete = kind === "new" || part === "deprecated" || (part === "choices" && was === undefined);
  // Another function may have the name, and another thing the value.
  const isLikely = isIncomplete || part === "signature" || isUnnamed === true;
  return {
    check: isIncomplete ? "missing-text" : "stale-fact",
    severity: isLikely ? "warning" : "error",
    path: block.path,
    line: pageLine,
    column: 1,
    message: `${factWords(fact)} (\`${path}:${line}\`)`,
  };
}

function factWords({ kind, name, part, was, now }: StaleFact): string {
  if (kind === "new") return `\`${name}\` is new, and this page lists others of its kind`;
  if (kind === "removed") return `\`${name}\` is removed`;
  if (part === "choices")
    return was === undefined ? `\`${name}\` also accepts \`${now}\`` : `\`${name}\` no longer accepts \`${was}\``;
  if (part === "deprecated") return `\`${name}\` is deprecated now, and this page does not say so`;
  if (part === "signature") return `This call does not fit \`${name}\` any more: ${now}`;
  if (part === "text") return `The code said "${was}" too, and does not any more`;
  if (part === "required") return `\`${name}\` is ${now} now, not ${was}`;
  return `\`${name}\` has the ${part} \`${now}\` now, not \`${was}\``;
}
