import { Type } from "typebox";
import { applyRefactoring } from "./report.ts";
import { defineTool } from "./tool.ts";

const noScreenshots =
  "screenshots are taken only if build.on is set, and the base branch has .emend/screenshots.json, which says how";

export const renewScreenshotsTool = defineTool({
  name: "renew_screenshots",
  description:
    "Takes the site's declared screenshots again, with your edits, and writes those that look different. Slow.",
  input: Type.Object({}, { additionalProperties: false }),
  writes: true,
  async run(context, _input, signal) {
    const { takeScreenshots, screenshotsLeft = 0, refusePath } = context;
    if (!takeScreenshots) return { kind: "refused", reason: noScreenshots };
    if (screenshotsLeft <= 0) return { kind: "refused", reason: "screenshots were taken often enough: go on without" };
    const taken = await takeScreenshots(signal);
    if (typeof taken === "string") return { kind: "refused", reason: taken };
    const edits = new Map<string, Buffer>();
    const skipped: { path: string; line: number; reason: string }[] = [];
    for (const one of taken) {
      const reason = one.kind === "failed" ? one.words : one.kind === "renewed" ? refusePath(one.file) : null;
      if (reason !== null) skipped.push({ path: one.file, line: 1, reason });
      else if (one.kind === "renewed") edits.set(one.file, one.bytes);
    }
    return applyRefactoring(context, { kind: "done", edits, counts: { screenshots: edits.size }, skipped });
  },
});
