import { describe, expect, it } from "vitest";
import {
  addToNavigation,
  checkSite,
  fixLinks,
  openSite,
  type Refactoring,
  removeFromNavigation,
  removePage,
  renameGroup,
  type Site,
  setFrontMatter,
} from "../src/index.ts";
import { editsOf, type MemoryTree, memoryTree } from "./support/memory-tree.ts";
import { mintlifySite } from "./support/mintlify-site.ts";
import { sampleSites } from "./support/sites.ts";

async function apply(tree: MemoryTree, work: (site: Site) => Promise<Refactoring>): Promise<MemoryTree> {
  return tree.with(editsOf(await work(await openSite(tree))));
}

async function errors(tree: MemoryTree): Promise<string[]> {
  const findings = await checkSite(await openSite(tree));
  return findings.filter(({ severity }) => severity === "error").map(({ path, message }) => `${path}: ${message}`);
}

function groups(tree: MemoryTree): Record<string, string[]> {
  const { navigation } = JSON.parse(tree.text("docs.json"));
  const found: { group: string; pages: string[] }[] = navigation.tabs[0].groups;
  return Object.fromEntries(found.map(({ group, pages }) => [group, pages]));
}

describe("removePage", () => {
  it.each(sampleSites)(
    "deletes a page of $name in favour of another and breaks nothing",
    async ({ name, files, page }) => {
      const tree = memoryTree(files);
      const site = await openSite(tree);
      const path =
        site.pages.find((one) => one.path.includes(`${page}.`) || one.path.includes(`${page}/`))?.path ?? page;
      const other = site.pages.find((one) => one.path !== path && !one.path.includes("index"))?.path ?? "";
      const done = await removePage(site, { page: path, to: other });
      // If an entry is the only one in its list, the refactoring reports it and changes nothing.
      if (done.kind === "refused") {
        expect(["starlight", "gitbook"]).toContain(name);
        return expect(done.reason).toMatch(/cannot be taken out alone/);
      }
      const after = tree.with(editsOf(done));
      expect(after.files.has(path)).toBe(false);
      expect(await errors(after)).toEqual(await errors(tree));
    },
  );

  it("leads links, anchors that are lost, the entry and the old address to the other page", async () => {
    const tree = memoryTree(mintlifySite);
    const after = await apply(tree, (site) => removePage(site, { page: "guides/auth", to: "guides/billing" }));
    expect(after.text("index.mdx")).toContain(
      "Read [auth](/guides/billing), [its scopes](/guides/billing), [the file](guides/billing.mdx) and",
    );
    expect(groups(after)).toEqual({ Start: ["index", "quickstart"], Guides: ["guides/billing"] });
    expect(JSON.parse(after.text("docs.json")).redirects).toEqual([
      { source: "/guides/auth", destination: "/guides/billing" },
    ]);
    const again = await removePage(await openSite(after), { page: "guides/auth", to: "guides/billing" });
    expect(editsOf(again).size).toBe(0);
  });

  it("takes a page by its path or title, never by the last part of its address, and tells which it could be", async () => {
    const tree = memoryTree({
      "gamma.md": "# One\n",
      "api/gamma.md": "# Two\n",
      "guides/beta.md": "# Three\n",
    });
    const once = await apply(tree, (site) => removePage(site, { page: "gamma", to: "guides/beta" }));
    expect(once.files.has("gamma.md")).toBe(false);
    const site = await openSite(once);
    const refused = { kind: "refused", reason: expect.stringContaining("did you mean api/gamma.md?") };
    expect(await removePage(site, { page: "gamma", to: "guides/beta" })).toMatchObject(refused);
    expect(await removePage(site, { page: "two", to: "guides/beta" })).toMatchObject({ kind: "refused" });
    expect(editsOf(await removePage(site, { page: "Two", to: "beta" })).get("api/gamma.md")).toBeNull();
  });

  it("refuses itself, a page that is not there and the last entry of a group", async () => {
    const site = await openSite(memoryTree(mintlifySite));
    const refusal = async (page: string, to: string) => removePage(site, { page, to });
    expect(await refusal("guides/auth", "guides/auth")).toMatchObject({ reason: expect.stringContaining("its own") });
    expect(await refusal("nowhere", "guides/auth")).toMatchObject({ kind: "refused" });
    expect(await refusal("guides/auth", "nowhere")).toMatchObject({ kind: "refused" });
  });
});

describe("navigation", () => {
  it("takes a page out, from either end of its group, and never the only one", async () => {
    const tree = memoryTree(mintlifySite);
    const first = await apply(tree, (site) => removeFromNavigation(site, { page: "guides/auth" }));
    expect(groups(first).Guides).toEqual(["guides/billing"]);
    const last = await apply(tree, (site) => removeFromNavigation(site, { page: "guides/billing" }));
    expect(groups(last).Guides).toEqual(["guides/auth"]);
    const only = await removeFromNavigation(await openSite(first), { page: "guides/billing" });
    expect(only).toMatchObject({ kind: "refused", reason: expect.stringContaining("cannot be taken out alone") });
    expect(editsOf(await removeFromNavigation(await openSite(first), { page: "guides/auth" })).size).toBe(0);
  });

  it("moves an entry within its group and to another one", async () => {
    const tree = memoryTree(mintlifySite);
    const move = (page: string, place: { group?: string; before?: string; after?: string }) =>
      apply(tree, (site) => addToNavigation(site, { page, ...place, move: true })).then(groups);
    expect((await move("guides/billing", { before: "guides/auth" })).Guides).toEqual(["guides/billing", "guides/auth"]);
    expect((await move("guides/auth", { after: "guides/billing" })).Guides).toEqual(["guides/billing", "guides/auth"]);
    expect(await move("guides/auth", { before: "guides/billing" })).toEqual(groups(tree));
    expect(await move("guides/auth", { group: "Start" })).toEqual({
      Start: ["index", "quickstart", "guides/auth"],
      Guides: ["guides/billing"],
    });
    expect((await move("guides/auth", { after: "index" })).Start).toEqual(["index", "guides/auth", "quickstart"]);
  });

  it("renames a group that has the name alone, by a plain name", async () => {
    const tree = memoryTree(mintlifySite);
    const after = await apply(tree, (site) => renameGroup(site, { from: "guides", to: "How-to guides" }));
    expect(groups(after)).toHaveProperty("How-to guides");
    expect(editsOf(await renameGroup(await openSite(after), { from: "Guides", to: "How-to guides" })).size).toBe(0);
    const site = await openSite(tree);
    expect(await renameGroup(site, { from: "Nope", to: "X" })).toMatchObject({
      reason: expect.stringContaining('"Start"'),
    });
    expect(await renameGroup(site, { from: "Guides", to: 'a"b' })).toMatchObject({ kind: "refused" });
  });
});

describe("front matter", () => {
  it.each([
    ["---\ntitle: A\nhidden: true\n---\n\nx\n", "---\ntitle: A\n---\n\nx\n"],
    ["---\r\nhidden: true\r\ntitle: A\r\n---\r\nx\r\n", "---\r\ntitle: A\r\n---\r\nx\r\n"],
    ["---\ntitle: A\nhidden:\n  - one\n  - two\n---\nx\n", "---\ntitle: A\n---\nx\n"],
    ["---\ntitle: A\n---\nx\n", "---\ntitle: A\n---\nx\n"],
    ["x\n", "x\n"],
  ])("takes a field out of %j", async (before, expected) => {
    const tree = memoryTree({ "a.md": before });
    const after = await apply(tree, (site) => setFrontMatter(site, { page: "a", field: "hidden", value: null }));
    expect(after.text("a.md")).toBe(expected);
  });
});

it("fixes links in the pages that are named alone", async () => {
  const broken = "# A\n\n[set up](setpu.md)\n";
  const tree = memoryTree({ "a.md": broken, "b.md": broken, "setup.md": "# Set up\n" });
  const after = await apply(tree, (site) => fixLinks(site, { pages: ["b.md"] }));
  expect([after.text("a.md"), after.text("b.md")]).toEqual([broken, broken.replace("setpu", "setup")]);
});

it("lists a page by its sidebar label where it has one, and by its title otherwise", async () => {
  const tree = memoryTree({
    "mkdocs.yml": "site_name: x\nnav:\n  - Home: index.md\n",
    "docs/index.md": "# Home\n",
    "docs/long.md": "---\nsidebar_label: Short\n---\n\n# A heading that is far too long for a sidebar\n",
    "docs/plain.md": "# Plain\n",
  });
  const first = tree.with(editsOf(await addToNavigation(await openSite(tree), { page: "long.md" })));
  const second = first.with(editsOf(await addToNavigation(await openSite(first), { page: "plain.md" })));
  expect(second.text("mkdocs.yml")).toContain("  - Short: long.md\n  - Plain: plain.md\n");
});
