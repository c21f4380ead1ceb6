import fc from "fast-check";
import { expect, it } from "vitest";
import { formatReport, parseReport } from "./report.ts";

it("is read back as it was written", () => {
  const name = fc.stringMatching(/^[a-z]{1,10}$/).filter((word) => word !== "files");
  const skipped = fc.record({
    path: fc.stringMatching(/^[a-z0-9/._-]{1,30}$/),
    line: fc.nat(10_000),
    reason: fc.string({ maxLength: 50 }).map((reason) => reason.replaceAll(/\s+/g, " ")),
  });
  const report = fc.record({
    files: fc.nat(),
    counts: fc.uniqueArray(fc.tuple(name, fc.nat()), { selector: ([word]) => word }).map((entries) => new Map(entries)),
    skipped: fc.array(skipped, { maxLength: 5 }),
    skippedMore: fc.nat(5),
  });
  fc.assert(fc.property(report, (written) => void expect(parseReport(formatReport(written))).toEqual(written)));
});

it("names a file whose name holds a line's end or what nobody sees", () => {
  const skipped = [{ path: "guides/od\u0001d\nna\u202eme.md", line: 3, reason: "lost" }];
  const { skipped: read } = parseReport(formatReport({ files: 0, counts: new Map(), skipped, skippedMore: 0 }));
  expect(read).toEqual([{ path: "guides/od\\u{1}d\\u{a}na\\u{202e}me.md", line: 3, reason: "lost" }]);
});
