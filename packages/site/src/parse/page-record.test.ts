import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { markdownDocument, mdxDocument } from "../../test/support/documents.ts";
import { plainDialect } from "./dialect.ts";
import { decodeRecord, encodeRecord, toRecord } from "./page-record.ts";
import { scanPage } from "./scan-page.ts";

const dialect = { ...plainDialect, syntax: "mdx" as const };

describe("a page's record", () => {
  it("is one line of text that gives back the facts and the brief", () => {
    const documents = fc.oneof(
      markdownDocument,
      mdxDocument,
      mdxDocument.map(
        (text) => `---\ntitle: "A\\tb"\ntags: [x, 1]\n---\n${text}\n## T {#own}\n\n![](a.png)[here](é.md)\n`,
      ),
      fc.constant("a\0b"),
    );
    fc.assert(
      fc.property(documents, (text) => {
        const facts = scanPage(Buffer.from(text), dialect);
        const record = encodeRecord(facts);
        const decoded = decodeRecord(record);
        expect(record).not.toContain("\n");
        expect(decoded.facts()).toEqual(facts);
        expect(decoded.brief).toEqual(toRecord(facts).brief);
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it.each([
    ["# A\n\n[b](b.md)\n", true],
    ["# A\n\n### C\n", false],
    ["```\ncode\n```\n", false],
    ["![](a.png)\n", false],
    ["[here](b.md)\n", false],
    ["---\na: [1\n---\n", false],
    ["a\0b", false],
  ])("says of %j whether a check of the page alone could find something", (text, isSound) => {
    expect(toRecord(scanPage(Buffer.from(text), plainDialect)).brief.isSound).toBe(isSound);
  });
});
