import { describe, expect, it } from "vitest";
import { addRedirect, checkSite, movePage, moveSection, openSite, removePage, renameHeading } from "../src/index.ts";
import { editsOf, type Files, memoryTree } from "./support/memory-tree.ts";

async function broken(files: Files): Promise<{ message: string; hasFix: boolean }[]> {
  const findings = await checkSite(await openSite(memoryTree(files)));
  return findings
    .filter(({ check }) => check === "broken-link" || check === "broken-anchor")
    .map(({ message, fix }) => ({ message, hasFix: fix !== undefined }));
}

async function move(files: Files, from: string, to: string) {
  const tree = memoryTree(files);
  const done = await movePage(await openSite(tree), { from, to });
  return { tree: tree.with(editsOf(done)), skipped: done.kind === "done" ? done.skipped : [] };
}

// Observed: MkDocs 1.4.2 and VitePress 1.6.4 write `<a href="keys.md">` unchanged, mdBook 0.4.48 writes `keys.html`.
describe("targets of HTML tags", () => {
  it.each([
    [
      "mkdocs",
      {
        "mkdocs.yml": "site_name: Acme\n",
        "docs/index.md": '# A\n\n<a href="keys.md">k</a>\n',
        "docs/keys.md": "# K\n",
      },
    ],
    [
      "vitepress",
      {
        "docs/.vitepress/config.ts": "export default {}\n",
        "docs/index.md": '# A\n\n<a href="./keys.md">k</a>\n',
        "docs/keys.md": "# K\n",
      },
    ],
  ])("are addresses on %s: a Markdown file is none", async (_name, files) => {
    expect(await broken(files)).toMatchObject([{ message: expect.stringContaining("keys.md") }]);
  });

  it("are links on mdBook", async () => {
    const files = {
      "book.toml": "[book]\n",
      "src/SUMMARY.md": "# Summary\n\n- [A](a.md)\n- [K](keys.md)\n",
      "src/a.md": '# A\n\n<a href="keys.md">k</a>\n',
      "src/keys.md": "# K\n",
    };
    expect(await broken(files)).toEqual([]);
  });

  // VitePress 1.6.4 reports `[h](.#here)` as dead, and writes `<a href=".#here">` unchanged, which links to the folder's page.
  it("are followed where they name their own folder, which no link can on VitePress", async () => {
    const files = {
      "docs/.vitepress/config.ts": "export default {}\n",
      "docs/guide/index.md": "# Guide\n\n## Here\n",
      "docs/guide/keys.md": '# K\n\n<a href=".#here">h</a>\n',
    };
    const tree = memoryTree(files);
    const renamed = await renameHeading(await openSite(tree), { page: "guide/index", from: "Here", to: "There" });
    expect(tree.with(editsOf(renamed)).text("docs/guide/keys.md")).toContain('<a href=".#there">');
    const moved = await move(files, "guide/index", "start");
    expect(moved.tree.text("docs/guide/keys.md")).toContain('<a href="../start#here">');
    const asLink = { ...files, "docs/guide/keys.md": "# K\n\n[h](.#here)\n" };
    expect(await broken(asLink)).toHaveLength(1);
  });
});

// If no page has the root address, mdBook 0.4.48 serves the first chapter there.
it.each([
  ["index.md", 1],
  ["start.md", 0],
])("judges links to the top of an mdBook that begins with %s: %i broken", async (first, count) => {
  const files = {
    "book.toml": "[book]\n",
    "src/SUMMARY.md": `# Summary\n\n- [A](${first})\n- [K](guide/keys.md)\n`,
    [`src/${first}`]: "# A\n",
    "src/guide/keys.md": "# K\n\n[a](..#nowhere)\n",
  };
  expect(await broken(files)).toHaveLength(count);
});

describe("files that a page takes in", () => {
  it("follows them on mdBook, in code too", async () => {
    const { tree } = await move(
      {
        "book.toml": "[book]\n",
        "src/SUMMARY.md": "# Summary\n\n- [A](a.md)\n",
        "src/a.md": "# A\n\n{{#include parts/b.md}}\n\n```rust\n{{#rustdoc_include ../listings/main.rs:here}}\n```\n",
        "src/parts/b.md": "Text.\n",
        "listings/main.rs": "fn main() {}\n",
      },
      "src/a.md",
      "src/deep/a.md",
    );
    expect(tree.text("src/deep/a.md")).toContain("{{#include ../parts/b.md}}");
    expect(tree.text("src/deep/a.md")).toContain("{{#rustdoc_include ../../listings/main.rs:here}}");
  });

  it("finds snippets of MkDocs from the top, wherever the page is", async () => {
    const { tree } = await move(
      {
        "mkdocs.yml": "site_name: Acme\nmarkdown_extensions:\n  - pymdownx.snippets\n",
        "docs/index.md": '# A\n\n--8<-- "docs/parts/b.md"\n',
        "docs/parts/b.md": "Text.\n",
      },
      "docs/parts/b.md",
      "docs/shared/b.md",
    );
    expect(tree.text("docs/index.md")).toContain('--8<-- "docs/shared/b.md"');
  });

  it("follows a page in the toctrees and includes of Sphinx", async () => {
    const { tree } = await move(
      {
        "conf.py": 'extensions = ["myst_parser"]\n',
        "index.md": "# A\n\n```{toctree}\n:caption: Guides\n\nguides/keys\nKeys <guides/keys.md>\n```\n",
        "guides/keys.md": "# K\n\n```{include} ../part.md\n```\n",
        "part.md": "Text.\n",
      },
      "guides/keys.md",
      "security/deep/keys.md",
    );
    expect(tree.text("index.md")).toContain("\nsecurity/deep/keys\nKeys <security/deep/keys.md>\n");
    expect(tree.text("security/deep/keys.md")).toContain("```{include} ../../part.md");
  });

  // From the documentation of MyST 4.0: an example of a toctree, and an entry that its build generates.
  it("leaves toctrees of Sphinx in code alone, and reads those inside of other directives", async () => {
    const toctree = (entry: string): string => `\`\`\`{toctree}\n${entry}\n\`\`\`\n`;
    const findings = await checkSite(
      await openSite(
        memoryTree({
          "conf.py": 'extensions = ["myst_parser"]\n',
          "index.md": `# A\n\n\`\`\`\`md\n${toctree("example")}\`\`\`\`\n\n${toctree("apidocs/index.rst")}\n:::::{note}\n${toctree("missing")}:::::\n\n~~~~{code-block} md\n${toctree("example")}~~~~\n`,
        }),
      ),
    );
    const listed = findings.filter(({ check }) => check === "broken-navigation").map(({ message }) => message);
    expect(listed).toEqual([expect.stringContaining("`missing.md`")]);
  });
});

describe("what is certain", () => {
  const site = (link: string): Files => ({
    "a.md": `# A\n\n[b](${link})\n`,
    "install.md": "# B\n\n## Settings\n",
    "notes-2.md": "# C\n",
  });

  it("offers a fix for a slip of one letter, and none for a name that differs in two, or in a digit", async () => {
    expect(await broken(site("instal.md"))).toMatchObject([{ hasFix: true }]);
    expect(await broken(site("insta.md"))).toMatchObject([{ hasFix: false }]);
    expect(await broken(site("notes-1.md"))).toMatchObject([{ hasFix: false }]);
    expect(await broken(site("install.md#setings"))).toMatchObject([{ hasFix: true }]);
    // Both may be headings.
    expect(await broken(site("install.md#setting"))).toMatchObject([{ hasFix: false }]);
    expect(await broken(site("install.md#settin"))).toMatchObject([{ hasFix: false }]);
  });
});

it("writes the old address of a MkDocs redirect with one ending", async () => {
  const tree = memoryTree({
    "mkdocs.yml": "site_name: Acme\nplugins:\n  - redirects:\n      redirect_maps:\n        old.md: index.md\n",
    "docs/index.md": "# A\n",
  });
  const done = await addRedirect(await openSite(tree), { from: "get-started.md", to: "index.md" });
  expect(tree.with(editsOf(done)).text("mkdocs.yml")).toContain("        get-started.md: index.md");
});

it.each(["redirect_maps: {}", "redirect_maps:", "redirect_maps: { }  "])(
  "fills an empty map of redirects: %s",
  async (map) => {
    const tree = memoryTree({
      "mkdocs.yml": `site_name: Acme\nplugins:\n  - redirects:\n      ${map}\nnav:\n  - index.md\n`,
      "docs/index.md": "# A\n",
    });
    const done = await addRedirect(await openSite(tree), { from: "old.md", to: "index.md" });
    expect(tree.with(editsOf(done)).text("mkdocs.yml")).toBe(
      "site_name: Acme\nplugins:\n  - redirects:\n      redirect_maps:\n        old.md: index.md\nnav:\n  - index.md\n",
    );
  },
);

it("says that a redirect may be for the wrong version where the last one is computed", async () => {
  const { skipped } = await move(
    {
      "docusaurus.config.js":
        "export default { baseUrl: '/', presets: [['classic', { docs: { sidebarPath: './sidebars.js', lastVersion: process.env.LAST } }]],\n  plugins: [['@docusaurus/plugin-client-redirects', { redirects: [{ from: '/old', to: '/docs/next/keys' }] }]] };\n",
      "sidebars.js": "export default { docs: ['keys'] };\n",
      "versions.json": '["1.0"]\n',
      "docs/keys.md": "# K\n",
      "versioned_docs/version-1.0/keys.md": "# K\n",
    },
    "docs/keys.md",
    "docs/security/keys.md",
  );
  expect(skipped.map(({ reason }) => reason).join()).toContain("computes lastVersion");
});

it("lists a section that becomes a page in its own version's sidebar", async () => {
  const older = '{ "docs": ["keys"] }\n';
  const tree = memoryTree({
    "docusaurus.config.js":
      "export default { baseUrl: '/', presets: [['classic', { docs: { sidebarPath: './sidebars.js' }, blog: false }]] };\n",
    "versioned_sidebars/version-1.0-sidebars.json": older,
    "sidebars.js": "export default { docs: ['keys'] };\n",
    "versions.json": '["1.0"]\n',
    "docs/keys.md": "# K\n\n## Scopes\n\nText.\n",
    "versioned_docs/version-1.0/keys.md": "# K\n",
  });
  const input = { page: "docs/keys.md", heading: "Scopes", to: "docs/guides/scopes.md" };
  const after = tree.with(editsOf(await moveSection(await openSite(tree), input)));
  expect(after.text("sidebars.js")).toContain("guides/scopes");
  expect(after.text("versioned_sidebars/version-1.0-sidebars.json")).toBe(older);
});

it("deletes translations with their page, in favour of the other's", async () => {
  const tree = memoryTree({
    "docs/.vitepress/config.ts":
      "export default { locales: { root: { label: 'English' }, fr: { label: 'Français' } } }\n",
    "docs/old.md": "# Old\n",
    "docs/new.md": "# New\n",
    "docs/fr/old.md": "# Vieux\n",
    "docs/fr/new.md": "# Nouveau\n\n[x](./start.md)\n",
    "docs/fr/start.md": "# Début\n\n[x](./old.md)\n",
  });
  const after = tree.with(editsOf(await removePage(await openSite(tree), { page: "docs/old.md", to: "docs/new.md" })));
  expect(after.files.has("docs/fr/old.md")).toBe(false);
  expect(after.text("docs/fr/start.md")).toContain("[x](./new.md)");
});
