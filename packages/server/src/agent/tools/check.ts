import { checkSite, compareSites, type Finding } from "@emend/site";
import { Type } from "typebox";
import { repairLinks } from "./page-tools.ts";
import { defineTool, fitItems, type ToolContext } from "./tool.ts";

export const checkTool = defineTool({
  name: "check",
  description: "What your edits broke. `all`: older findings too. `fix`: repairs links whose target is certain.",
  input: Type.Object(
    {
      all: Type.Optional(Type.Boolean()),
      fix: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  writes: ({ fix }) => fix === true,
  async run(context, { all = false, fix = false }, signal) {
    if (!fix) return { kind: "answer", text: await findingsOf(context, all, signal) };
    const fixed = await repairLinks(context, undefined, signal);
    if (fixed.kind === "refused") return fixed;
    context.site.changed();
    return { kind: "answer", text: `${fixed.text}\n${await findingsOf(context, all, signal)}` };
  },
});

async function findingsOf(context: ToolContext, all: boolean, signal: AbortSignal): Promise<string> {
  const head = await context.site.head(signal);
  const list = (findings: readonly Finding[]) =>
    fitItems(findings.map(describeFinding), context.outputBytesMax - 200, (shown) =>
      shown < findings.length ? `… ${findings.length - shown} more findings` : "",
    ).text;
  if (all) {
    const findings = await checkSite(head);
    return findings.length === 0 ? "no findings" : list(findings);
  }
  const { introduced, fixed, before, after, tally } = await compareSites(await context.site.base(signal), head);
  const unjudged = tally.unjudged === 0 ? "" : `; ${tally.unjudged} of ${tally.links} links could not be judged`;
  const totals = `${introduced.length} new, ${fixed.length} fixed; ${before} findings before, ${after} now${unjudged}`;
  return introduced.length === 0 ? totals : `${totals}\n${list(introduced)}`;
}

export function describeFinding(finding: Finding): string {
  const doubt = finding.certainty === undefined ? "" : `, ${finding.certainty}: ${finding.why ?? ""}`;
  return `${finding.severity} ${finding.path}:${finding.line}:${finding.column}: ${finding.message} (${finding.check}${doubt})`;
}
