import { describe, expect, it } from "vitest";
import { generateSite } from "../bench/generate.ts";
import { memoryTree } from "../test/support/memory-tree.ts";
import { mintlifySite } from "../test/support/mintlify-site.ts";
import { createParseCache } from "./cache/disk-cache.ts";
import { checkSite } from "./check-site.ts";
import { compareSites } from "./compare-sites.ts";
import { openSite } from "./open-site.ts";
import { checkMdx } from "./parse/check-mdx.ts";

async function checksOf(files: Record<string, string>): Promise<string[]> {
  const findings = await checkSite(await openSite(memoryTree(files)));
  return findings.map(({ check, path, line, column }) => `${check} ${path}:${line}:${column}`);
}

const config = (redirects: unknown[], pages: string[]): string =>
  JSON.stringify({ navigation: { groups: [{ group: "G", pages }] }, redirects });

describe("checkSite", () => {
  it.each([
    ["broken-link a.md:1:5", { "a.md": "[x](b.md)\n" }],
    ["broken-anchor a.md:1:5", { "a.md": "[x](#none)\n" }],
    ["missing-file a.md:1:6", { "a.md": "![x](b.png)\n" }],
    ["missing-file a.mdx:1:16", { "a.mdx": 'import B from "./b.mdx"\n' }],
    ["front-matter a.md:4:1", { "a.md": "---\ntitle: a\nb: [1\n---\n" }],
    ["heading-jump a.md:3:5", { "a.md": "# A\n\n### B\n" }],
    ["duplicate-heading a.md:3:4", { "a.md": "# A {#x}\n\n## B {#x}\n" }],
    ["bare-fence a.md:1:1", { "a.md": "```\ncode\n```\n" }],
    ["image-alt a.md:1:5", { "a.md": "![](b.png)\n", "b.png": "" }],
    ["bare-link-text a.md:1:8", { "a.md": "[here](b.md)\n", "b.md": "" }],
    ["heading-jump a.md:1:6", { "a.md": "#### A\n" }],
    ["text-link a.md:1:5", { "a.md": "See [b](b.md for more.\n", "b.md": "" }],
    ["text-link a.md:1:5", { "a.md": "See [b][none].\n" }],
    ["text-link a.md:1:4", { "a.md": "[](b.md)\n", "b.md": "" }],
    ["unclosed-fence a.md:1:1", { "a.md": "```sh\nls\n\n```js\nrun()\n```\n" }],
    ["duplicate-route a.mdx:1:1", { "a.md": "A", "a.mdx": "B" }],
    ["orphan-page b.mdx:1:1", { "docs.json": config([], ["a"]), "a.mdx": "A", "b.mdx": "B" }],
    ["broken-navigation docs.json:1:52", { "docs.json": config([], ["a", "none"]), "a.mdx": "A" }],
    [
      "broken-redirect docs.json:1:69",
      { "docs.json": config([{ source: "/x", destination: "/none" }], ["a"]), "a.mdx": "A" },
    ],
    ["unread-page a.md:1:1", { "a.md": "a\0b" }],
  ])("reports %s", async (expected, files) => {
    expect(await checksOf(files)).toContain(expected);
  });

  it.each([
    "A cell of rows[i][j], a [ ] box, [a note][^1] and [b][b].\n\n[^1]: Note.\n\n[b]: https://b.example/{{< version of it >}}\n",
    "Call [f](x, y) with (a, b).\n",
    "````sh\n```js\nrun()\n```\n````\n",
    "```md\n```js\nrun()\n```\n",
  ])("takes %j for what it is", async (text) => {
    const found = await checksOf({ "a.md": text });
    expect(found.filter((one) => /text-link|unclosed-fence a.md:1/.test(one))).toEqual([]);
  });

  it("doubts itself where more than a fifth of many links seem broken, but not what a change broke", async () => {
    const pages = (broken: number) => ({
      "a.md": Array.from({ length: 300 }, (_, at) => `[x](${at < broken ? "none" : "b"}${at}.md)\n`).join("\n"),
      ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`b${at}.md`, "# B\n"])),
    });
    const open = (broken: number) => openSite(memoryTree(pages(broken)));
    const of = async (broken: number) =>
      (await checkSite(await open(broken))).filter(({ check }) => check === "broken-link");
    expect(new Set((await of(50)).map(({ severity, certainty }) => `${severity} ${certainty}`))).toEqual(
      new Set(["error undefined"]),
    );
    const doubted = await of(120);
    expect(doubted).toHaveLength(120);
    expect(
      doubted.every(({ severity, certainty, why }) =>
        `${severity} ${certainty} ${why}`.startsWith("warning likely more than a fifth"),
      ),
    ).toBe(true);
    const { introduced } = await compareSites(await open(0), await open(120));
    expect(
      introduced.filter(({ check }) => check === "broken-link").every(({ severity }) => severity === "error"),
    ).toBe(true);
    const kept = await compareSites(await open(120), await open(130));
    expect(
      kept.introduced.filter(({ check }) => check === "broken-link").every(({ certainty }) => certainty === "likely"),
    ).toBe(true);
  });

  it("tells a redirect that leads back to itself", async () => {
    const loop = [
      { source: "/x", destination: "/y" },
      { source: "/y", destination: "/x" },
    ];
    const checks = await checksOf({ "docs.json": config(loop, ["a"]), "a.mdx": "A" });
    expect(checks.filter((check) => check.startsWith("broken-redirect"))).toHaveLength(2);
  });

  it("finds no links in text that is not a link", async () => {
    const text = [
      "`[a](none.md)` \\[b](none.md) <!-- [c](none.md) --> [d](https://x.y) [e](//x.y) [f](mailto:a@b) [g](tel:1)",
      "",
      "    [h](none.md)",
      "",
      "~~~",
      "[i](none.md)",
      "~~~",
      "",
      "[j](b%20c.md?query=1#hash) [k](<b c.md>) [l]({{ variable }}) ![m](data:image/png;base64,x)",
    ].join("\n");
    const checks = await checksOf({ "a.md": text, "b c.md": "# Hash\n" });
    expect(checks.filter((check) => !check.startsWith("bare-fence"))).toEqual([]);
  });

  it("rechecks only what a change touches, with the findings of a fresh check", async () => {
    const files = Object.fromEntries([...generateSite(120)].map(({ path, content }) => [path, content]));
    const tree = memoryTree(files);
    const cache = createParseCache();
    await checkSite(await openSite(tree, { cache }));
    let current = tree;
    for (const edit of ["## Renamed\n", "[x](/nowhere)\n", "---\nhidden: true\n---\n# A\n", "# A\n\n## Notes\n"]) {
      current = current.with(new Map([["section-0/page-3.mdx", Buffer.from(edit)]]));
      const reads: string[] = [];
      const watched = {
        ...current,
        read(path: string) {
          reads.push(path);
          return current.read(path);
        },
      };
      const findings = await checkSite(await openSite(watched, { cache }));
      expect(findings).toEqual(await checkSite(await openSite(current)));
      // The page itself, and pages whose links it broke. Only those pages know the position.
      const broken = new Set(findings.map(({ path }) => path));
      expect(reads).toContain("section-0/page-3.mdx");
      expect(reads.filter((path) => path !== "section-0/page-3.mdx" && !broken.has(path))).toEqual([]);
    }
  });
});

describe("compareSites", () => {
  it("reports only what a change introduced, the removed page and broken MDX among it", async () => {
    const tree = memoryTree({ ...mintlifySite, "quickstart.mdx": "[old](/gone)\n" });
    const base = await openSite(tree);
    const head = await openSite(
      tree.with(
        new Map([
          ["guides/billing.mdx", null],
          ["quickstart.mdx", Buffer.from("Two\n\nlines [old](/gone) <Card>\n")],
        ]),
      ),
    );
    const { introduced, before, after } = await compareSites(base, head);
    const checks = introduced.map(({ check, path, line }) => `${check} ${path}:${line}`);
    expect(checks.sort()).toEqual([
      "broken-link guides/auth.mdx:7",
      "broken-navigation docs.json:13",
      "mdx-syntax quickstart.mdx:3",
      "removed-page guides/billing.mdx:1",
    ]);
    expect(after).toBeGreaterThan(before);
  });

  it("a line that moves to another page takes its old finding along", async () => {
    const link = "See [x](gone.md) for more.\n";
    const tree = memoryTree({ "a.md": `# A\n\n${link}`, "b.md": "# B\n" });
    const base = await openSite(tree);
    const moved = new Map([
      ["a.md", Buffer.from("# A\n\nText.\n")],
      ["b.md", Buffer.from(`# B\n\n${link}`)],
    ]);
    const found = await compareSites(base, await openSite(tree.with(moved)));
    expect([found.introduced, found.fixed]).toEqual([[], []]);
    const other = new Map([...moved, ["b.md", Buffer.from("# B\n\nOr [y](gone.md), another line.\n")] as const]);
    expect((await compareSites(base, await openSite(tree.with(other)))).introduced).toHaveLength(1);
  });

  it("names an anchor that is gone, and says what a change repaired", async () => {
    const tree = memoryTree({ "a.md": "# A\n\n## Old\n", "b.md": "[x](a.md#old) [y](a.md#new)\n" });
    const base = await openSite(tree);
    const head = await openSite(tree.with(new Map([["a.md", Buffer.from("# A\n\n## New\n")]])));
    const { introduced, fixed } = await compareSites(base, head);
    expect(introduced.map(({ check, path }) => `${check} ${path}`).sort()).toEqual([
      "broken-anchor b.md",
      "removed-anchor a.md",
    ]);
    expect(fixed.map(({ check, message }) => `${check} ${message}`)).toEqual([
      expect.stringContaining("broken-anchor No heading on `a.md` has the id `new`"),
    ]);
  });
});

describe("checkMdx", () => {
  it("gets through deeply nested JSX and half open expressions", async () => {
    const site = await openSite(
      memoryTree({
        "a.mdx": `${"<A>\n".repeat(500)}${"</A>\n".repeat(500)}`,
        "b.mdx": "{".repeat(5000),
        "c.mdx": "<A ".repeat(5000),
      }),
    );
    const findings = await checkMdx(site, ["a.mdx", "b.mdx", "c.mdx"]);
    expect(findings.map(({ path }) => path)).toEqual(["b.mdx", "c.mdx"]);
  });

  it("cuts off a page that takes too long", async () => {
    const site = await openSite(memoryTree({ "a.mdx": "*a ".repeat(20_000), "b.mdx": "# B\n" }));
    const [finding, ...others] = await checkMdx(site, ["a.mdx"], { pageMsMax: 1 });
    expect(finding?.message).toBe("MDX cannot be parsed: parsing took longer than 0.001 seconds");
    expect(others).toEqual([]);
    // Its late answer reaches nobody else.
    expect(await checkMdx(site, ["b.mdx"])).toEqual([]);
  });

  it("reports line and column, and evaluates nothing", async () => {
    const site = await openSite(
      memoryTree({
        "a.mdx": "# A\n\n<Card>\n\nnever closed\n",
        "b.mdx": "{process.exit(1)}\n\nexport const x = process.exit(1)\n",
      }),
    );
    const findings = await checkMdx(site, ["a.mdx", "b.mdx"]);
    expect(findings).toMatchObject([{ check: "mdx-syntax", path: "a.mdx", line: 3, column: 1 }]);
  });
});

describe("the nearest page", () => {
  const nearby = async (files: Record<string, string>) => {
    const [finding] = await checkSite(await openSite(memoryTree(files)));
    return finding;
  };

  it("is certain where it is the only one, and a guess among rivals", async () => {
    const link = { "a.md": "[x](guide-oone.md)\n" };
    expect((await nearby({ ...link, "guide-one.md": "G" }))?.fix).toBeDefined();
    const among = await nearby({ ...link, "guide-one.md": "G", "guide-onf.md": "H" });
    expect(among?.check).toBe("broken-link");
    expect(among?.fix).toBeUndefined();
  });
});

it("a partial's links to anchors of its own are those of the pages that include it", async () => {
  const files = {
    "docs.json": config([], ["a"]),
    "a.mdx": "import P from '/snippets/p.mdx'\n\n## There\n\n<P />\n",
    "snippets/p.mdx": "[x](#there)\n",
  };
  expect(await checksOf(files)).toEqual([]);
});

it("a page that moves takes its old findings along", async () => {
  const body = "---\ntitle: A\n---\n\n[gone](/none-such)\n";
  const base = { "docs.json": config([], ["old"]), "old.mdx": body };
  const head = {
    "docs.json": config([{ source: "/old", destination: "/guides/new" }], ["guides/new"]),
    "guides/new.mdx": body,
  };
  const { introduced, fixed } = await compareSites(await openSite(memoryTree(base)), await openSite(memoryTree(head)));
  expect([introduced, fixed]).toEqual([[], []]);
});
