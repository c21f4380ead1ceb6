import { describe, expect, it } from "vitest";
import { editsOf, memoryTree } from "../../test/support/memory-tree.ts";
import { mintlifySite } from "../../test/support/mintlify-site.ts";
import { checkSite } from "../check-site.ts";
import { openSite } from "../open-site.ts";
import { movePage } from "./move-page.ts";

async function brokenIn(tree: ReturnType<typeof memoryTree>): Promise<string[]> {
  const findings = await checkSite(await openSite(tree));
  return findings
    .filter(({ severity }) => severity === "error")
    .map(({ path, line, message }) => `${path}:${line} ${message}`);
}

describe("movePage", () => {
  it("updates inbound links in every form, the navigation, the page's own links, and adds a redirect", async () => {
    const tree = memoryTree(mintlifySite);
    expect(await brokenIn(tree)).toEqual([]);
    const moved = await movePage(await openSite(tree), { from: "guides/auth", to: "security/authentication" });
    const after = tree.with(editsOf(moved));
    expect(moved).toMatchObject({ counts: { pages: 1, links: 11, navigation: 1, redirects: 1 }, skipped: [] });
    expect(await brokenIn(after)).toEqual([]);
    expect(after.files.has("guides/auth.mdx")).toBe(false);
    expect(after.text("index.mdx")).toBe(`---
title: Welcome
---

Read [auth](/security/authentication), [its scopes](/security/authentication#scopes), [the file](security/authentication.mdx) and [relative](./security/authentication).

See [by reference][auth] and <a href="/security/authentication">HTML</a>.

<Card title="Auth" href="/security/authentication">Keys</Card>

[auth]: /security/authentication#keys "Auth"

\`[not](/guides/auth)\`

\`\`\`md
[not](/guides/auth)
\`\`\`
`);
    expect(after.text("quickstart.mdx")).toContain("(security/authentication.mdx?x=1#scopes)");
    expect(after.text("guides/billing.mdx")).toContain(
      "[auth](../security/authentication) and [auth](../security/authentication.mdx#keys)",
    );
    expect(after.text("security/authentication.mdx")).toContain(
      "[billing](../guides/billing) and [start](../quickstart). ![Key](../images/key.png)",
    );
    expect(after.text("docs.json")).toContain('"security/authentication",\n              "guides/billing"');
    expect(after.text("docs.json")).toContain(`  },
  "redirects": [
    { "source": "/guides/auth", "destination": "/security/authentication" }
  ]
}
`);
  });

  it("gives the original bytes when a page moves there and back", async () => {
    // A site that writes sibling links in one style. From `../` alone, the style could not be inferred.
    const billing = "---\ntitle: Billing\n---\n\nNeeds [auth](./auth) and [auth](./auth.mdx#keys).\n";
    const tree = memoryTree({ ...mintlifySite, "guides/billing.mdx": billing, "quickstart.mdx": "# Start\n" });
    const there = tree.with(editsOf(await movePage(await openSite(tree), { from: "guides/auth", to: "a/b/c" })));
    const back = there.with(editsOf(await movePage(await openSite(there), { from: "a/b/c", to: "guides/auth" })));
    for (const path of tree.files.keys()) expect(back.text(path), path).toBe(tree.text(path));
    expect([...back.files.keys()].sort()).toEqual([...tree.files.keys()].sort());
  });

  it("moves a folder with one redirect a page", async () => {
    const tree = memoryTree(mintlifySite);
    const moved = await movePage(await openSite(tree), { from: "guides", to: "how-to" });
    const after = tree.with(editsOf(moved));
    expect(await brokenIn(after)).toEqual([]);
    expect(moved).toMatchObject({ counts: { pages: 2, navigation: 2, redirects: 2 } });
    expect(after.text("docs.json")).toContain('{ "source": "/guides/billing", "destination": "/how-to/billing" }');
  });

  it("changes nothing if the page exists already", async () => {
    const tree = memoryTree(mintlifySite);
    const site = await openSite(tree);
    const after = tree.with(editsOf(await movePage(site, { from: "guides/auth", to: "security/authentication" })));
    const again = await movePage(await openSite(after), { from: "guides/auth", to: "security/authentication" });
    expect(editsOf(again).size).toBe(0);
  });

  it.each([
    [{ from: "guides/ath", to: "x" }, /no page "guides\/ath"; did you mean guides\/auth\.mdx/],
    [{ from: "guides/auth", to: "guides/billing" }, /guides\/billing\.mdx already exists/],
    [{ from: "guides/auth", to: "../outside" }, /is not a valid path/],
    [{ from: "guides/auth", to: ".git/x" }, /is not a valid path/],
    [{ from: "guides", to: "guides/inner" }, /cannot move into itself/],
    [{ from: "", to: "x" }, /no page/],
  ])("refuses %j", async (input, reason) => {
    const refused = await movePage(await openSite(memoryTree(mintlifySite)), input);
    expect(refused).toEqual({ kind: "refused", reason: expect.stringMatching(reason) });
  });

  it.each(["docs", "docs/", "./docs/"])("refuses to move the folder of the whole site: %s", async (from) => {
    const tree = memoryTree({ "mkdocs.yml": "site_name: x\n", "docs/index.md": "# Home\n", "docs/a.md": "# A\n" });
    const refused = await movePage(await openSite(tree), { from, to: "handbook" });
    expect(refused).toEqual({
      kind: "refused",
      reason: expect.stringMatching(/^docs\/ is the folder of the whole site/),
    });
  });

  it.each([
    ["mkdocs", { "mkdocs.yml": "site_name: x\n" }],
    [
      "docusaurus",
      { "docusaurus.config.js": 'export default { presets: [["classic", { docs: { path: "docs" } }]] };\n' },
    ],
    ["vitepress", { "docs/.vitepress/config.ts": "export default { title: 'x' };\n" }],
  ])("rewrites links to Markdown files of a page that changes its depth in %s", async (_name, config) => {
    const tree = memoryTree({
      ...config,
      "docs/index.md": "# Home\n",
      "docs/advanced/proxy.md": "# Proxy\n",
      "docs/tutorial/security/first-steps.md": "# First\n\n[proxy](../../advanced/proxy.md)\n",
    });
    const moved = await movePage(await openSite(tree), {
      from: "docs/tutorial/security/first-steps",
      to: "docs/how-to/first-steps",
    });
    const after = tree.with(editsOf(moved));
    expect(after.text("docs/how-to/first-steps.md")).toContain("(../advanced/proxy.md)");
    // Builders look for the file, not for a route with that name.
    const page = tree.text("docs/tutorial/security/first-steps.md");
    const kept = after.with(new Map([["docs/how-to/first-steps.md", Buffer.from(page)]]));
    expect(await brokenIn(kept)).toEqual([expect.stringContaining("docs/how-to/first-steps.md:3")]);
  });
});
