import { describe, expect, it } from "vitest";
import { checkSite, compareSites, openSite } from "../src/index.ts";
import { type Files, memoryTree } from "./support/memory-tree.ts";

/** A site with enough pages to show how its references are read. */
function site(own: string, more: Files = {}): Files {
  const files: Record<string, string> = { "mkdocs.yml": "site_name: x\n" };
  for (let n = 0; n < 20; n++) files[`docs/guide/p${n}.md`] = "# P\n";
  return { ...files, "docs/guide/own.md": `# Own\n\n${own}\n`, ...more };
}

async function judged(files: Files): Promise<string[]> {
  const found = await checkSite(await openSite(memoryTree(files)));
  return found
    .filter(({ check }) => /^(?:broken|missing)-/.test(check))
    .map(({ check, certainty, why = "" }) => `${check} ${certainty ?? "certain"} ${why}`.trim());
}

const few = "too few references that are written like this lead anywhere on this site";

describe("certainty is earned by the references of the same form that lead somewhere", () => {
  it("of a link", async () => {
    expect(await judged(site("[x](none.md)"))).toEqual([`broken-link likely ${few}`]);
    expect(await judged(site("[x](none.md) [a](p1.md) [b](p2.md) [c](p3.md)"))).toEqual(["broken-link certain"]);
    // Another form proves nothing.
    expect(await judged(site("[x](./none.md) [a](p1.md) [b](p2.md) [c](p3.md)"))).toEqual([
      `broken-link likely ${few}`,
    ]);
  });

  it("of a file, by its ending", async () => {
    const shown = "![a](a.png) ![b](b.png) ![c](c.png)";
    const pictures = Object.fromEntries(["a", "b", "c"].map((name) => [`docs/guide/${name}.png`, "x"]));
    expect(await judged(site(`![x](none.png) ${shown}`, pictures))).toEqual(["missing-file certain"]);
    expect(await judged(site(`![x](none.svg) ${shown}`, { ...pictures, "docs/guide/d.svg": "x" }))).toEqual([
      `missing-file likely ${few}`,
    ]);
  });

  it("of an entry of the navigation", async () => {
    const nav = (...names: string[]): Files => ({
      "mkdocs.yml": `site_name: x\nnav:\n${names.map((name) => `  - guide/${name}.md\n`).join("")}`,
    });
    expect(await judged(site("", nav("p1", "p2", "p3", "none")))).toEqual(["broken-navigation certain"]);
    expect(await judged(site("", nav("p1", "none")))).toEqual([`broken-navigation likely ${few}`]);
  });

  it("but not on a site that is too small to show it", async () => {
    const files = { "mkdocs.yml": "site_name: x\n", "docs/a.md": "# A\n\n[x](none.md)\n" };
    expect(await judged(files)).toEqual(["broken-link certain"]);
  });
});

it("is earned by the place too: nothing is certain of a folder that has nothing of the kind", async () => {
  const links = "[a](p1.md) [b](p2.md) [c](p3.md)";
  expect(await judged(site(`[x](api/none.md) ${links}`))).toEqual([
    "broken-link likely this repository has nothing like it in `docs/guide/api/`: the build or another site may serve it",
  ]);
  const many = ["k", "l", "m"].map((name) => `[${name}](../api/${name}.md)`).join(" ");
  const up = [1, 2, 3].map((n) => `[u](../guide/p${n}.md)`).join(" ");
  const found = await judged(site(`${many} ${up}`, { "docs/api/a.md": "# A\n", "docs/api/b.md": "# B\n" }));
  expect(new Set(found)).toEqual(
    new Set(["broken-link likely 3 references to `docs/api/` lead nowhere: the build may make what they name"]),
  );
});

describe("a change", () => {
  async function introduced(before: string, after: string): Promise<string[]> {
    const open = (text: string) => openSite(memoryTree(site(text)));
    const change = await compareSites(await open(before), await open(after));
    return change.introduced.map(({ check, certainty }) => `${check} ${certainty ?? "certain"}`);
  }

  it("needs no proof for what it breaks", async () => {
    expect(await introduced("", "[x](none.md)")).toEqual(["broken-link certain"]);
  });

  it("is doubted where it names what the site names already", async () => {
    const other = "\n\n[x](none.md)";
    expect(await introduced("[x](none.md)", `[x](none.md)${other}`)).toEqual(["broken-link likely"]);
  });
});
