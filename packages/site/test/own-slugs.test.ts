import { describe, expect, it } from "vitest";
import { checkSite, type Finding, openSite } from "../src/index.ts";
import { type Files, memoryTree } from "./support/memory-tree.ts";

async function errorsOf(files: Files): Promise<string[]> {
  return (await findingsOf(files)).filter(({ severity }) => severity === "error").map(({ message }) => message);
}

async function findingsOf(files: Files): Promise<readonly Finding[]> {
  return checkSite(await openSite(memoryTree(files)));
}

describe("anchors of sites that no framework is known of", () => {
  it("are not judged if the site has its own rule for them", async () => {
    const page = "# A\n\n## Two words\n\n[a](#two_words) [b](#no_such)\n";
    const others = Array.from({ length: 19 }, (_, n) => [`${n}.md`, page.replace("[b](#no_such)", "")] as const);
    expect(await errorsOf({ "a.md": page, ...Object.fromEntries(others) })).toEqual([]);
    expect(await errorsOf({ "a.md": page, ...Object.fromEntries(others.slice(1)) })).not.toEqual([]);
  });

  it("fit to the letter where most do", async () => {
    const page = "# A\n\n## Two words\n\n[a](#two-words) ";
    expect(await errorsOf({ "a.md": page, "b.md": `${page}[b](#two_words)\n` })).toEqual([
      "No heading on this page has the id `two_words`; use `#two-words` instead.",
    ]);
  });

  it("are not known on a page whose headings a template makes", async () => {
    expect(
      await errorsOf({ "a.md": '## {{% heading "next" %}}\n\n[a](#what-s-next) [b](b.md#none)\n', "b.md": "B" }),
    ).toEqual(["No heading on `b.md` has the id `none`; correct the part after `#` or give the heading that id."]);
  });

  it("and targets that name a variable are not judged", async () => {
    expect(await errorsOf({ "a.md": "[a](ENGLISH_VERSION_URL) [b](README)\n" })).toEqual([
      "`README` links to a missing page; correct or remove the link.",
    ]);
  });
});

describe("anchors of a Starlight site", () => {
  // The ids that Astro 7.3.5 makes.
  const ids = ["--background", "a--b", "x--y-and--z", "--in-link--c", "--b----d", "a---b"];
  const plainIds = ["--background", "a----b", "x--y-and----z", "--in-link----c", "--b----d", "a---b"];
  const headings = [
    "`--background`",
    "a -- b",
    "`x--y` and -- z",
    "[`--in-link`](/x/) -- c",
    "**`--b`** \\-- d",
    "`a---b`",
  ];
  const site = (options: string, links: readonly string[]) => ({
    "astro.config.mjs": `import starlight from '@astrojs/starlight';\nexport default { ${options} integrations: [starlight({ title: 'A', base: '/no' })] };\n`,
    "src/content/docs/index.md": `---\ntitle: Home\n---\n\n${links.map((id) => `[a](/x/#${id})`).join("\n")}\n`,
    "src/content/docs/x.md": `---\ntitle: X\n---\n\n${headings.map((heading) => `## ${heading}`).join("\n\n")}\n`,
  });

  it("keep dashes in code; elsewhere several become one that no id has", async () => {
    expect(await errorsOf(site("", ids))).toEqual([]);
    // The second resolver knows other rules for ids too.
    expect(await findingsOf(site("", ["a----b"]))).toMatchObject([{ check: "broken-anchor", certainty: "likely" }]);
  });

  it("keep all dashes if the configuration turns that off, and a base of an integration is not the site's", async () => {
    expect(await errorsOf(site("markdown: { smartypants: false },", plainIds))).toEqual([]);
    expect(await errorsOf(site("markdown: { smartypants: false },", ["a--b"]))).toHaveLength(1);
  });
});
