import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { compare } from "../oracles/compare.ts";
import { differences, unjudged } from "../oracles/differences.ts";
import { oracleSites } from "../oracles/forms.ts";
import type { Truth } from "../oracles/truth.ts";

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
    // What Emend says nothing of is counted, so that it does not grow unseen.
    const isOpen = ({ emend }: { emend: string }): boolean =>
      emend.startsWith("unknown") && unjudged[site.name] !== undefined;
    expect(all.filter(isOpen).length).toBe(unjudged[site.name]?.rows ?? 0);
    const found = all.filter((one) => !isOpen(one));
    expect(found.filter(({ row }) => known[row] === undefined)).toEqual([]);
    // A difference that is gone is taken off the list.
    expect(Object.keys(known).filter((row) => !found.some((one) => one.row === row))).toEqual([]);
  });
});
