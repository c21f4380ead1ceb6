import { checkSite, compareSites, type Finding } from "@emend/site";
import { Type } from "typebox";
import { fitItems } from "./bound-output.ts";
import { defineTool } from "./tool.ts";

export const checkTool = defineTool({
  name: "check",
  description: "What your edits broke: links, navigation, syntax. `all`: older findings too.",
  input: Type.Object({ all: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
  async run(context, { all = false }, signal) {
    const head = await context.site.head(signal);
    const list = (findings: readonly Finding[], bytesMax = context.outputBytesMax - 200) =>
      fitItems(findings.map(describeFinding), bytesMax, (shown) =>
        shown < findings.length ? `… ${findings.length - shown} more findings` : "",
      ).text;
    if (all) {
      const findings = await checkSite(head);
      return { kind: "answer", text: findings.length === 0 ? "no findings" : list(findings) };
    }
    const { introduced, fixed, before, after, tally } = await compareSites(await context.site.base(signal), head);
    const unjudged = tally.unjudged === 0 ? "" : `; ${tally.unjudged} of ${tally.links} links could not be judged`;
    const totals = `${introduced.length} new, ${fixed.length} fixed; ${before} findings before, ${after} now${unjudged}`;
    return { kind: "answer", text: introduced.length === 0 ? totals : `${totals}\n${list(introduced)}` };
  },
});

export function describeFinding(finding: Finding): string {
  const doubt = finding.certainty === undefined ? "" : `, ${finding.certainty}: ${finding.why ?? ""}`;
  return `${finding.severity} ${finding.path}:${finding.line}:${finding.column}: ${finding.message} (${finding.check}${doubt})`;
}
