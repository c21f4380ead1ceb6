import { checkSite, compareSites, type Finding } from "@emend/site";
import { Type } from "typebox";
import { defineTool } from "./tool.ts";

export const checkTool = defineTool({
  name: "check",
  description:
    "Checks the site with the edits so far and lists what they broke: links, anchors, navigation, syntax. With all: true it lists every finding, older ones too.",
  input: Type.Object({ all: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
  async run({ site }, { all = false }, signal) {
    const head = await site.head(signal);
    if (all) {
      const findings = await checkSite(head);
      return { kind: "answer", text: findings.length === 0 ? "no findings" : findings.map(describeFinding).join("\n") };
    }
    const { introduced, fixed, before, after } = await compareSites(await site.base(signal), head);
    const totals = `${introduced.length} new, ${fixed.length} fixed; ${before} findings before, ${after} now`;
    return { kind: "answer", text: [totals, ...introduced.map(describeFinding)].join("\n") };
  },
});

export function describeFinding(finding: Finding): string {
  return `${finding.severity} ${finding.path}:${finding.line}:${finding.column}: ${finding.message} (${finding.check})`;
}
