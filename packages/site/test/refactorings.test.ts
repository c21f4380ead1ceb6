import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addRedirect,
  checkSite,
  fixLinks,
  movePage,
  openSite,
  orderNavigation,
  type Refactoring,
  removePage,
  renameHeading,
  replaceTerm,
  type Site,
  setFrontMatter,
} from "../src/index.ts";
import { readFacts } from "../src/parse/read-page-facts.ts";
import { editsOf, type MemoryTree, memoryTree } from "./support/memory-tree.ts";

// Small sites with every form of link between their pages, in two frameworks.

const folders = ["", "guides/", "guides/deep/", "api/"];
const names = ["alpha", "beta", "gamma", "delta"];

interface Draft {
  isMintlify: boolean;
  pages: string[];
  links: { from: number; to: number; manner: number }[];
}

const draft: fc.Arbitrary<Draft> = fc.record({
  isMintlify: fc.boolean(),
  pages: fc.uniqueArray(
    fc.tuple(fc.constantFrom(...folders), fc.constantFrom(...names)).map(([folder, name]) => folder + name),
    { minLength: 2, maxLength: 6 },
  ),
  links: fc.array(fc.record({ from: fc.nat(5), to: fc.nat(5), manner: fc.nat(6) }), { maxLength: 12 }),
});

function relative(from: string, to: string): string {
  const up = from.split("/").slice(0, -1);
  const down = to.split("/");
  while (up.length > 0 && down.length > 1 && up[0] === down[0]) {
    up.shift();
    down.shift();
  }
  return up.length === 0 ? `./${down.join("/")}` : `${"../".repeat(up.length)}${down.join("/")}`;
}

function build({ isMintlify, pages, links }: Draft): MemoryTree {
  const extension = isMintlify ? "mdx" : "md";
  const files: Record<string, string> = {};
  const at = (index: number): string => pages[index % pages.length] as string;
  pages.forEach((page, i) => {
    const own = links.filter(({ from }) => at(from) === page);
    const lines = own.map(({ to, manner }) => {
      const goal = at(to);
      const path = relative(page, goal);
      return [
        `[a](${path}.${extension})`,
        `[b](${path})`,
        `[c](/${goal}${isMintlify ? "" : ".md"})`,
        `[d](${path}.${extension}#details-of-${at(to).split("/").at(-1)})`,
        `<a href="${path}.${extension}">e</a>`,
        `> quoted [f](\n> ${path}.${extension}\n> "Title")`,
        `![g](${relative(page, "img/x.png")})`,
      ][manner];
    });
    const name = page.split("/").at(-1);
    files[`${page}.${extension}`] =
      `---\ntitle: Page ${i}\n---\n\n# Page ${i}\n\n${lines.join("\n\n")}\n\n## Details of ${name}\n\nWidget text.\n`;
  });
  files["img/x.png"] = "png";
  if (isMintlify)
    files["docs.json"] = `${JSON.stringify({ navigation: { groups: [{ group: "All", pages }] } }, null, 2)}\n`;
  return memoryTree(files);
}

async function problems(site: Site): Promise<string[]> {
  const findings = await checkSite(site);
  return findings
    .filter(({ severity }) => severity !== "info")
    .map(({ check, path, message }) => `${check} ${path} ${message}`);
}

async function apply(tree: MemoryTree, work: (site: Site) => Promise<Refactoring>): Promise<MemoryTree> {
  return tree.with(editsOf(await work(await openSite(tree))));
}

/** The changes of a refactoring. Nothing if it refuses. */
function changesOf(refactoring: Refactoring): string[] {
  return refactoring.kind === "refused" ? [] : [...refactoring.edits.keys()];
}

describe("every refactoring", () => {
  it("moves a page anywhere and back to the same bytes, breaking nothing in between", async () => {
    const where = fc.constantFrom("moved", "guides/moved", "new/place/moved", "api/moved");
    await fc.assert(
      fc.asyncProperty(draft, where, async (site, to) => {
        const tree = build(site);
        expect(await problems(await openSite(tree))).toEqual([]);
        const [first] = site.pages;
        const there = await apply(tree, (opened) => movePage(opened, { from: first ?? "", to }));
        expect(await problems(await openSite(there))).toEqual([]);
        const again = await movePage(await openSite(there), { from: first ?? "", to });
        expect(changesOf(again)).toEqual([]);
        const back = await apply(there, (opened) => movePage(opened, { from: to, to: first ?? "" }));
        for (const path of tree.files.keys()) expect(back.text(path)).toBe(tree.text(path));
      }),
      { seed: 7, numRuns: 150 },
    );
  });

  it("deletes a page in favour of another without a new finding, and once is enough", async () => {
    await fc.assert(
      fc.asyncProperty(draft, async (site) => {
        const [page = "", to = ""] = site.pages;
        const tree = build(site);
        const done = await removePage(await openSite(tree), { page, to });
        if (done.kind === "refused") return;
        const after = await openSite(tree.with(done.edits));
        expect(await problems(after)).toEqual([]);
        expect(changesOf(await removePage(after, { page, to }))).toEqual([]);
      }),
      { seed: 7, numRuns: 80 },
    );
  });

  it("moves a folder, renames a heading and replaces a term without a new finding, and once is enough", async () => {
    await fc.assert(
      fc.asyncProperty(draft, async (site) => {
        let tree = build(site);
        const folder = site.pages.find((page) => page.includes("/"))?.split("/")[0];
        const works: ((opened: Site) => Promise<Refactoring>)[] = [
          ...(folder === undefined
            ? []
            : [(opened: Site) => movePage(opened, { from: folder, to: "elsewhere/inner" })]),
          async (opened) => {
            const [node] = opened.index.nodes.values();
            const heading = node === undefined ? "" : (await readFacts(opened, node)).headings.at(-1)?.text;
            return renameHeading(opened, { page: opened.pages[0]?.path ?? "", from: heading ?? "", to: "Fine print" });
          },
          (opened) => replaceTerm(opened, { from: "details", to: "minor details" }),
          (opened) => replaceTerm(opened, { from: "widget", to: "gadget", wordForms: true }),
          (opened) => setFrontMatter(opened, { page: opened.pages[0]?.path ?? "", field: "owner", value: "us" }),
          (opened) => orderNavigation(opened, { pages: [opened.pages.at(-1)?.path ?? ""] }),
          (opened) => addRedirect(opened, { from: "/once", to: opened.pages[0]?.route ?? "" }),
          fixLinks,
        ];
        for (const work of works) {
          const done = await work(await openSite(tree));
          // A site without navigation has no order to change and no place for redirects.
          if (done.kind === "refused") continue;
          tree = tree.with(done.edits);
          const opened = await openSite(tree);
          expect(await problems(opened)).toEqual([]);
          expect(changesOf(await work(opened))).toEqual([]);
        }
      }),
      { seed: 7, numRuns: 80 },
    );
  });
});
