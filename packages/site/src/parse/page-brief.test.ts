import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { markdownDocument, mdxDocument } from "../../test/support/documents.ts";
import { plainDialect } from "./dialect.ts";
import { briefOf } from "./page-brief.ts";
import { scanPage } from "./scan-page.ts";

const dialect = { ...plainDialect, syntax: "mdx" as const };

describe("a page's brief", () => {
  it("is the same after a journey as one line of JSON", () => {
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
        const brief = briefOf(scanPage(Buffer.from(text), dialect));
        const record = JSON.stringify(brief);
        expect(record).not.toContain("\n");
        expect(JSON.parse(record)).toEqual(brief);
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it.each([
    ["# A\n\n[b](b.md)\n", []],
    ["# A\n\n### C\n", ["heading-jump 3:5"]],
    ["```\ncode\n```\n", ["bare-fence 1:1"]],
    ["![](a.png)\n", ["image-alt 1:5"]],
    ["[here](b.md)\n", ["bare-link-text 1:8"]],
    ["---\na: [1\n---\n", ["front-matter 3:1"]],
    ["a\0b", ["unread-page 1:1"]],
  ])("says of %j what the checks of the page alone find", (text, expected) => {
    const { own } = briefOf(scanPage(Buffer.from(text), plainDialect));
    expect(own.map(({ check, line, column }) => `${check} ${line}:${column}`)).toEqual(expected);
  });

  it("names each target once, links apart from what is no link", () => {
    const text = "[a](b.md) [c](b.md) ![d](b.png) ![e](b.png) [f](b.png)\n\n[g]: b.md\n\n[h](https://x.y)\n";
    const { links, others } = briefOf(scanPage(Buffer.from(text), plainDialect));
    expect(links).toEqual(["b.md", "b.png"]);
    expect(others).toEqual([{ kind: "image", target: "b.png" }]);
  });
});
