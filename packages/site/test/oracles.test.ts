import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { compare } from "../oracles/compare.ts";
import { differences } from "../oracles/differences.ts";
import { oracleSites } from "../oracles/layouts.ts";
import type { Truth } from "../oracles/truth.ts";

async function truthOf(name: string): Promise<Truth> {
  return JSON.parse(await readFile(new URL(`../oracles/truth/${name}.json`, import.meta.url), "utf8"));
}

describe("Emend and the real builders", () => {
  it.each(oracleSites.filter(({ isLenient }) => !isLenient))(
    "agree on routes, links and ids of $name, but for what is written down",
    async (site) => {
      const truth = await truthOf(site.name);
      expect(truth.links.map(([from, target]) => `${from} ${target}`)).toEqual(
        site.links.map(({ from, target }) => `${from} ${target}`),
      );
      expect(truth.headings.map(([source]) => source)).toEqual(site.headings);
      const known = differences[site.name] ?? {};
      const found = await compare(site, truth);
      expect(found.filter(({ row }) => known[row] === undefined)).toEqual([]);
      // A difference that is gone is taken off the list.
      expect(Object.keys(known).filter((row) => !found.some((one) => one.row === row))).toEqual([]);
    },
  );

  it.each(oracleSites.filter(({ isLenient }) => isLenient))(
    "$name: nothing that works is called broken",
    async (site) => {
      const truth = await truthOf(site.name);
      const found = await compare(site, truth);
      const links = found.filter(({ row, builder }) => row.startsWith("link ") && builder.startsWith("ok"));
      expect(links.filter(({ emend }) => /^(?:broken|no anchor)/.test(emend))).toEqual([]);
      expect(found.filter(({ row, emend }) => row.startsWith("route ") && emend === "none")).toEqual([]);
    },
  );
});
