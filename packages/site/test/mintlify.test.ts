import { describe, expect, it } from "vitest";
import { addRedirect, addToNavigation, checkSite, movePage, openSite } from "../src/index.ts";
import { editsOf, type Files, memoryTree } from "./support/memory-tree.ts";

function page(text: string): string {
  return `---\ntitle: T\n---\n\n${text}\n`;
}

async function findingsOf(files: Files): Promise<string[]> {
  const findings = await checkSite(await openSite(memoryTree(files)));
  return findings.map(({ check, path, line }) => `${check} ${path}:${line}`);
}

describe("Mintlify's configuration", () => {
  it.each([
    ["docs/", "/docs/b"],
    ["", "/docs/b"],
  ])("keeps links as they are written where pages are in the folder %s", async (folder, link) => {
    const tree = memoryTree({
      "docs.json": JSON.stringify({ navigation: { pages: [`${folder}index`, `${folder}a`] } }),
      [`${folder}index.mdx`]: page("[a](/docs/a#x)"),
      [`${folder}a.mdx`]: page("## x"),
    });
    const site = await openSite(tree);
    expect(await checkSite(site)).toEqual([]);
    const moved = tree.with(editsOf(await movePage(site, { from: `${folder}a`, to: `${folder}b` })));
    expect(moved.text(`${folder}index.mdx`)).toContain(`[a](${link}#x)`);
  });

  it("makes pages of files that are usually for contributors, if it lists them", async () => {
    const files = {
      "docs.json": JSON.stringify({ navigation: { pages: ["index", "security"] } }),
      "index.mdx": page("[s](/security), [l](/license)"),
      "security.mdx": page("x"),
      "license.mdx": page("x"),
      "security/keys.mdx": page("x"),
    };
    const tree = memoryTree(files);
    const site = await openSite(tree);
    expect([...site.index.nodes.keys()].sort()).toEqual(["index.mdx", "security.mdx", "security/keys.mdx"]);
    const moved = tree.with(editsOf(await movePage(site, { from: "security", to: "vault" })));
    expect(moved.text("vault.mdx")).toBe(files["security.mdx"]);
    expect(moved.text("security/keys.mdx")).toBe(files["security/keys.mdx"]);
    expect(moved.text("index.mdx")).toContain("[s](/vault)");
  });

  it("is read in its older file, whose other bytes stay", async () => {
    const config = `{
  "name": "Old",
  "anchors": [{ "name": "Blog", "url": "https://example.com" }],
  "tabs": [{ "name": "API", "url": "api" }],
  "navigation": [
    { "group": "Start",   "pages": ["index", { "group": "More", "pages": ["api/errors"] }] }
  ]
}
`;
    const tree = memoryTree({
      "mint.json": config,
      "index.mdx": page("[e](/api/errors)"),
      "api/errors.mdx": page("x"),
    });
    expect(await checkSite(await openSite(tree))).toEqual([]);
    const moved = tree.with(editsOf(await movePage(await openSite(tree), { from: "api/errors", to: "api/faults" })));
    expect(moved.text("mint.json")).toContain(
      `{ "group": "Start",   "pages": ["index", { "group": "More", "pages": ["api/faults"] }] }`,
    );
    expect(moved.text("mint.json")).toContain('"source": "/api/errors"');
    expect(await checkSite(await openSite(moved))).toEqual([]);
  });

  it("has versions, languages, tabs, anchors, dropdowns and parts in other files", async () => {
    const navigation = {
      languages: [
        {
          language: "en",
          versions: [{ version: "2", tabs: [{ tab: "Docs", groups: [{ group: "A", pages: ["a"] }] }] }],
        },
        { language: "fr", anchors: [{ anchor: "Docs", dropdowns: [{ dropdown: "D", pages: ["fr/a"] }] }] },
        { $ref: "./de.json" },
      ],
    };
    const files = {
      "docs.json": JSON.stringify({ navigation }),
      "de.json": JSON.stringify({
        language: "de",
        groups: [{ group: "B", root: "de/start", pages: ["de/a", "de/none"] }],
      }),
      "a.mdx": page("A"),
      "fr/a.mdx": page("A"),
      "de/a.mdx": page("A"),
      "de/start.mdx": page("A"),
      "lost.mdx": page("A"),
    };
    expect(await findingsOf(files)).toEqual(["broken-navigation de.json:1", "orphan-page lost.mdx:1"]);
    const tree = memoryTree(files);
    const after = tree.with(editsOf(await addToNavigation(await openSite(tree), { page: "lost", group: "B" })));
    expect(after.text("de.json")).toContain('"de/none", "lost"]');
  });

  it("gives snippets to the pages that include them, with their anchors", async () => {
    const files = {
      "docs.json": JSON.stringify({ navigation: { pages: ["a", "b"] } }),
      "a.mdx": page("import S from '/snippets/s.mdx';\n\n<S />\n\n[x](#shared) [y](#none)"),
      "b.mdx": page("[x](/a#shared)"),
      "snippets/s.mdx": "## Shared\n\n[broken](/nowhere)\n",
    };
    expect(await findingsOf(files)).toEqual(["broken-anchor a.mdx:9", "broken-link snippets/s.mdx:3"]);
  });

  it("reads redirect patterns, and adds a redirect in place", async () => {
    const config = `{
  "navigation": { "pages": ["new/a"] },
  "redirects": [
    { "source": "/old/:slug*", "destination": "/new/:slug*" }
  ]
}
`;
    const tree = memoryTree({ "docs.json": config, "new/a.mdx": page("[old](/old/a) [gone](/olds/a)") });
    expect(await findingsOf(Object.fromEntries(tree.files))).toEqual(["broken-link new/a.mdx:5"]);
    const after = tree.with(editsOf(await addRedirect(await openSite(tree), { from: "/olds/a", to: "/new/a" })));
    expect(after.text("docs.json")).toContain(
      '{ "source": "/old/:slug*", "destination": "/new/:slug*" },\n    { "source": "/olds/a", "destination": "/new/a" }\n  ]',
    );
  });
});
