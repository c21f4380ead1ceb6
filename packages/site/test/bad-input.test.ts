import { monitorEventLoopDelay } from "node:perf_hooks";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkSite, fixLinks, movePage, openSite, replaceTerm } from "../src/index.ts";
import { plainDialect } from "../src/parse/dialect.ts";
import { readProse } from "../src/parse/prose.ts";
import { scanPage, scanText } from "../src/parse/scan-page.ts";
import { markdownDocument, mdxDocument } from "./support/documents.ts";
import { type Files, memoryTree } from "./support/memory-tree.ts";

const long = 100_000;

/** Texts that have crashed or slowed down parsers. Each must parse quickly. */
const traps: Record<string, string> = {
  brackets: "[".repeat(long),
  "closed brackets": "[".repeat(long) + "]".repeat(long),
  links: "[a](".repeat(long / 4),
  nested: "[a]".repeat(long / 3),
  ticks: Array.from({ length: 400 }, (_, n) => "`".repeat(n)).join(" "),
  braces: "{".repeat(long),
  "lines of braces": "{\n\n".repeat(long / 4),
  tags: "<a ".repeat(long / 3),
  "open tags": "<a b='".repeat(long / 6),
  "deep JSX": `${"<A>\n".repeat(3000)}${"</A>\n".repeat(3000)}`,
  "lines of tags": "<a\n\n".repeat(long / 4),
  stars: "*a ".repeat(long / 3),
  "heading of stars": `# ${"*a ".repeat(3000)}`,
  "heading of brackets": `# ${"[".repeat(5000)}`,
  "heading of white space": `# a${" ".repeat(long)}b }`,
  "long heading of brackets": `# ${"[".repeat(long)}`,
  "unclosed titles": '[a]: b "\n'.repeat(long / 9),
  imports: `import ${"import a ".repeat(long / 9)}`,
  quotes: `${">".repeat(long)} a`,
  "lines of quotes": "> ".repeat(50).concat("a\n").repeat(500),
  lists: Array.from({ length: 300 }, (_, n) => `${" ".repeat(n * 2)}- a`).join("\n"),
  "endless front matter": `---\n${"a: b\n".repeat(long / 5)}`,
  "deep front matter": `---\na: ${"[".repeat(5000)}\n---\n`,
  "alias bomb":
    "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n---\n",
  definitions: "[a]: b\n".repeat(long / 7),
  "half definitions": "[a]: ".repeat(long / 5),
  table: `| a |\n| - |\n${"| b |\n".repeat(5000)}`,
  "setext candidates": "a\n    -\n".repeat(long / 10),
  entities: "&".repeat(long),
  comments: "<!-- ".repeat(long / 5),
  "one long line": "word ".repeat(long / 5),
  "line feeds": "\n".repeat(long),
};

describe("bad input", () => {
  it.each(Object.keys(traps))("scans %s in no time, as Markdown and as MDX", (name) => {
    const text = traps[name] ?? "";
    const startedAt = process.cpuUsage();
    for (const syntax of ["md", "mdx"] as const) {
      scanText(text, { ...plainDialect, syntax, templates: true, admonitions: true, colons: true });
      readProse(text, { ...plainDialect, syntax });
    }
    expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(1500);
  });

  it("never throws, for any bytes", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .string({ unit: fc.constantFrom(..."[](){}<>`*_~#-+=|\\!&:;\"'/ \n\t\ra1é\u{1f600}"), maxLength: 200 })
        .map((text) => Buffer.from(text)),
      fc.oneof(markdownDocument, mdxDocument).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, fc.constantFrom("md" as const, "mdx" as const), (input, syntax) => {
        const facts = scanPage(input, { ...plainDialect, syntax, templates: true, admonitions: true, colons: true });
        for (const { start, end, line, column } of facts.links) {
          expect(start <= end && end <= input.length && line >= 1 && column >= 1).toBe(true);
        }
      }),
      { seed: 7, numRuns: 1000 },
    );
  });

  it("replaces in a line of a hundred thousand characters", async () => {
    const site = await openSite(
      memoryTree({ "a.md": `term ${"a".repeat(long)}.term ${"x.".repeat(long / 2)} term\n` }),
    );
    const startedAt = process.cpuUsage();
    expect(await replaceTerm(site, { from: "term", to: "word" })).toMatchObject({ counts: { replacements: 2 } });
    expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(1500);
  });

  it("opens, checks and refactors a site of oddities", async () => {
    const files: Files = {
      "docs.json":
        '{"navigation": {"groups": [{"group": "G", "pages": ["a", "A", 5, null, {"pages": "x"}]}]}, "redirects": [{"source": 1}], ',
      "a.mdx":
        "[s](<b c.mdx> 'x') [q](b%20c?x=1#h) [up](../../../x) [bad](%E0%A4%A) [sp](b c.mdx)\n\nimport X from './cyc1.mdx'\n",
      "A.mdx": "# Case\n",
      "b c.mdx": "# H\n",
      "cyc1.mdx": "import Y from './cyc2.mdx'\n\n[x](#none)\n",
      "cyc2.mdx": "import Y from './cyc1.mdx'\n",
      "bad.mdx": new Uint8Array([0xff, 0xfe, 0x5b, 0x78, 0x5d, 0x28, 0x79, 0x29, 0x0a]),
      "empty.mdx": "",
      "snippets/x.mdx": "text",
    };
    const site = await openSite(memoryTree(files));
    expect((await checkSite(site)).length).toBeGreaterThan(0);
    for (const refactoring of [
      await movePage(site, { from: "b c", to: "d e" }),
      await replaceTerm(site, { from: "(x", to: "$&" }),
      await fixLinks(site),
    ]) {
      expect(refactoring.kind).toBe("done");
    }
  });

  it("keeps the event loop free over a page of 40 MB and one of 3 MB", async () => {
    const huge = Buffer.alloc(40 * 2 ** 20, "text [a](b.md) ");
    const large = Buffer.alloc(3 * 2 ** 20, "some text without a link. ");
    const tree = memoryTree({ "small.md": "# A\n" });
    const bytes = new Map<string, Uint8Array>([
      ["huge.md", huge],
      ["large.md", large],
    ]);
    const watched = {
      list: async () => [
        ...(await tree.list()),
        { path: "huge.md", hash: "1", size: huge.length },
        { path: "large.md", hash: "2", size: large.length },
      ],
      read: async (path: string) => bytes.get(path) ?? tree.read(path),
    };
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const findings = await checkSite(await openSite(watched));
    delay.disable();
    expect(findings.map(({ check, path }) => `${check} ${path}`)).toContain("unread-page huge.md");
    // Threads do the parsing. On a busy machine the event loop may still be delayed.
    expect(delay.percentile(90) / 1e6).toBeLessThan(200);
  });
});
