import { Type } from "typebox";
import { describeFinding } from "./check.ts";
import { defineTool, fitItems } from "./tool.ts";

export const buildTool = defineTool({
  name: "build",
  description: "Builds the site with your edits: what its builder newly complains about. Slow; once, before finish.",
  input: Type.Object({}, { additionalProperties: false }),
  async run({ build, buildsLeft = 0, outputBytesMax }, _input, signal) {
    if (!build) return { kind: "refused", reason: "this project's site is not built; check finds broken links" };
    if (buildsLeft <= 0)
      return { kind: "refused", reason: "no build is left: finish, and the review builds once more" };
    const findings = (await build(signal)).map(describeFinding);
    if (findings.length === 0) return { kind: "answer", text: "it builds, with nothing new to complain about" };
    const more = (shown: number) => (shown < findings.length ? `… ${findings.length - shown} more` : "");
    return { kind: "answer", text: fitItems(findings, outputBytesMax - 100, more).text };
  },
});
