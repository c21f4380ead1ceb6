import { describe, expect, it } from "vitest";
import { addPage, checkSite, compareSites, findPage, movePage, openSite, replaceTerm } from "../src/index.ts";
import { editsOf, memoryTree } from "./support/memory-tree.ts";
import { sampleSites } from "./support/sites.ts";

describe.each(sampleSites)("a $name site", ({ name, files, page, to, route, after, added }) => {
  it("is recognized, and has no findings that matter", async () => {
    const site = await openSite(memoryTree(files));
    expect(site.framework).toBe(name);
    expect(findPage(site, page)).toMatchObject({ kind: "found", page: { route } });
    const findings = await checkSite(site);
    expect(findings.filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  it("moves a page without breaking anything, and back to the same bytes", async () => {
    const tree = memoryTree(files);
    const before = await openSite(tree);
    const moved = tree.with(editsOf(await movePage(before, { from: page, to })));
    const site = await openSite(moved);
    expect((await compareSites(before, site)).introduced).toEqual([]);
    for (const [path, text] of Object.entries(after)) expect(moved.text(path), path).toContain(text);
    const again = await movePage(site, { from: page, to });
    if (again.kind === "done") expect(again.edits.size).toBe(0);
    const back = moved.with(editsOf(await movePage(site, { from: to, to: page })));
    for (const path of tree.files.keys()) expect(back.text(path), path).toBe(tree.text(path));
    expect([...back.files.keys()].sort()).toEqual([...tree.files.keys()].sort());
  });

  it("finds what is broken", async () => {
    const tree = memoryTree(files);
    const target = (await openSite(tree)).pages.find(({ path }) => path.includes("tart") || path.includes("eams"));
    const broken = `${tree.text(target?.path ?? "")}\n[a](./no-such-page.md) [b](#no-such-heading)\n\n![c](./none.png)\n`;
    const findings = await checkSite(await openSite(memoryTree({ ...files, [target?.path ?? ""]: broken })));
    const found = findings.filter(({ severity }) => severity !== "info");
    expect(found.map(({ check }) => check).sort()).toEqual(["broken-anchor", "broken-link", "missing-file"]);
    // GitBook's rule for ids is not published, and the build may make the picture.
    const doubted = found.filter(({ certainty }) => certainty !== undefined).map(({ check }) => check);
    expect(doubted.toSorted()).toEqual([...(name === "gitbook" ? ["broken-anchor"] : []), "missing-file"]);
  });

  it("replaces a term once and breaks nothing", async () => {
    const tree = memoryTree(files);
    const before = await openSite(tree);
    const replaced = tree.with(editsOf(await replaceTerm(before, { from: "Keys", to: "API Keys" })));
    const site = await openSite(replaced);
    expect((await compareSites(before, site)).introduced).toEqual([]);
    expect(editsOf(await replaceTerm(site, { from: "Keys", to: "API Keys" })).size).toBe(0);
  });

  if (added !== undefined) {
    it("lists a page that is added", async () => {
      const tree = memoryTree(files);
      const before = await openSite(tree);
      const done = await addPage(before, {
        path: added.path,
        title: "New page",
        content: "Text.",
        group: added.group,
      });
      const now = tree.with(editsOf(done));
      for (const [path, text] of Object.entries(added.listed ?? {})) expect(now.text(path)).toContain(text);
      expect((await compareSites(before, await openSite(now))).introduced).toEqual([]);
    });
  }
});
