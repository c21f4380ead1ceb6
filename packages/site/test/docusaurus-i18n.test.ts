import { describe, expect, it } from "vitest";
import { checkSite, findPage, movePage, openSite } from "../src/index.ts";
import { editsOf, type Files, memoryTree } from "./support/memory-tree.ts";

const docs = "i18n/fr/docusaurus-plugin-content-docs";

const files: Files = {
  "docusaurus.config.js": `export default {
  baseUrl: '/',
  i18n: { defaultLocale: 'en', locales: ['en', 'fr'] },
  presets: [['classic', { docs: { sidebarPath: './sidebars.js' } }]],
};
`,
  "sidebars.js": "module.exports = { docs: ['start', 'keys', 'only-english'] };\n",
  "versions.json": '["1.0"]\n',
  "docs/start.md": "# Start\n\n[keys](./keys.md#scopes)\n",
  "docs/keys.md": "# Keys\n\n## Scopes\n",
  "docs/only-english.md": "# Only\n\n## English\n",
  "versioned_docs/version-1.0/start.md": "# Start\n",
  "versioned_sidebars/version-1.0-sidebars.json": '{"docs": ["start"]}\n',
  "blog/2024-01-02-hello.md": "# Hello\n",
  [`${docs}/current/start.md`]:
    "# Début\n\n[a](./keys.md#portées) [b](/docs/next/keys#portées) [c](/fr/docs/next/keys#portées)\n\n[d](only-english.md) [e](/docs/next/only-english#english) [f](/blog/2024/01/02/hello)\n",
  [`${docs}/current/keys.md`]: "# Clés\n\n## Portées\n",
  [`${docs}/version-1.0/start.md`]: "# Début\n",
  "i18n/fr/docusaurus-plugin-content-blog/2024-01-02-hello.md": "# Salut\n",
  "i18n/fr/docusaurus-plugin-content-pages/about.md": "# À propos\n\n[docs](/docs/start)\n",
  "i18n/fr/code.json": "{}",
};

describe("the languages of a Docusaurus site", () => {
  it("are pages below their name, which no sidebar has to list", async () => {
    const site = await openSite(memoryTree(files));
    const routes = site.pages.filter(({ path }) => path.startsWith("i18n/")).map(({ route }) => route);
    expect(routes.sort()).toEqual([
      "/fr/about",
      "/fr/blog/2024/01/02/hello",
      "/fr/docs/next/keys",
      "/fr/docs/next/start",
      "/fr/docs/start",
    ]);
    const findings = await checkSite(site);
    expect(findings.filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  it("are linked to by routes without it, and anchors are those of the translation", async () => {
    const broken = "[a](/docs/next/keys#scopes) [b](./keys.md#scopes) [c](/docs/next/none) [d](./none.md)\n";
    const site = await openSite(memoryTree({ ...files, [`${docs}/current/start.md`]: broken }));
    const findings = await checkSite(site);
    expect(findings.map(({ check, column }) => `${check} ${column}`)).toEqual([
      "broken-anchor 5",
      "broken-anchor 33",
      "broken-link 55",
      "broken-link 76",
    ]);
  });

  it("keep their links when a translation moves", async () => {
    const tree = memoryTree(files);
    const site = await openSite(tree);
    expect(findPage(site, `${docs}/current/keys.md`)).toMatchObject({ kind: "found" });
    const moved = tree.with(
      editsOf(await movePage(site, { from: `${docs}/current/keys.md`, to: `${docs}/current/cles.md` })),
    );
    expect(moved.text(`${docs}/current/start.md`)).toContain(
      "[a](./cles.md#portées) [b](/docs/next/cles#portées) [c](",
    );
    expect(moved.text("docs/start.md")).toBe(tree.text("docs/start.md"));
  });
});
