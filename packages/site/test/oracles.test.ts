import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { compare, type Truth } from "../oracles/compare.ts";
import { differences, unjudged } from "../oracles/differences.ts";
import { oracleSites } from "../oracles/forms.ts";

async function truthOf(name: string): Promise<Truth> {
  return JSON.parse(await readFile(new URL(`../oracles/truth/${name}.json`, import.meta.url), "utf8"));
}

describe("Emend and the real builders", () => {
  it.each(oracleSites)("agree on routes, links and ids of $name, but for what is written down", async (site) => {
    const truth = await truthOf(site.name);
    expect(truth.links.map(([from, target]) => `${from} ${target}`)).toEqual(
      site.links.map(({ from, target }) => `${from} ${target}`),
    );
    expect(truth.headings.map(([source]) => source)).toEqual(site.headings);
    const known = differences[site.name] ?? {};
    const all = await compare(site, truth);
    // Links that Emend does not judge are counted, so that their number cannot grow unnoticed.
    const isOpen = ({ emend }: { emend: string }): boolean =>
      emend.startsWith("unknown") && unjudged[site.name] !== undefined;
    expect(all.filter(isOpen).length).toBe(unjudged[site.name]?.rows ?? 0);
    const found = all.filter((one) => !isOpen(one));
    expect(found.filter(({ row }) => known[row] === undefined)).toEqual([]);
    // Remove a difference from the list once it is gone.
    expect(Object.keys(known).filter((row) => !found.some((one) => one.row === row))).toEqual([]);
  });

  it("are counted in the documentation as they are", async () => {
    const docs = await readFile(new URL("../../../docs/frameworks.md", import.meta.url), "utf8");
    const table = docs.slice(docs.indexOf("| framework | builder |"));
    const counts = new Map<string, { rows: number; differ: number; open: number }>();
    for (const { name, framework, headings } of oracleSites) {
      const { routes, links, headings: ids, blocks } = await truthOf(name);
      const key = headings.length > 0 ? framework : "forms";
      const { rows, differ, open } = counts.get(key) ?? { rows: 0, differ: 0, open: 0 };
      const own = unjudged[name]?.rows ?? 0;
      counts.set(key, {
        rows:
          rows +
          Object.keys(routes).length +
          links.length +
          ids.length +
          Object.keys(blocks).length -
          Number(key !== "forms"),
        differ: differ + Object.keys(differences[name] ?? {}).length + own,
        open: open + own,
      });
    }
    for (const [framework, { rows, differ, open }] of counts) {
      const row = new RegExp(`^\\| ${framework} \\|.*$`, "im").exec(table)?.[0] ?? table;
      const words = open === 0 ? `${differ}` : `${differ}, of which ${open} are not checked`;
      const expected =
        framework === "forms"
          ? `${rows}\nrows, of which ${differ} differ and ${open} of those are not checked`
          : `| ${rows} | ${words} |`;
      expect(row).toContain(expected);
    }
  });
});
