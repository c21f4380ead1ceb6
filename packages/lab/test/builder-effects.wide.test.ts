import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { askProduct } from "../attack/builders/judge-shapes.ts";
import { sites } from "../attack/builders/sites.ts";

/** Changes that did harm in a real builder or browser. `npm run attack -- builders --record` writes them again. */
const { rows }: { rows: { builder: string; path: string; text: string; effects: readonly string[] }[] } = JSON.parse(
  readFileSync(new URL("./fixtures/builder-effects.json", import.meta.url), "utf8"),
);

it.each(sites)("$name: no change that had an effect is published without a person", async (site) => {
  const own = rows.filter(({ builder }) => builder === site.name);
  const shapes = own.map((row) => ({ ...row, id: row.text }));
  const verdicts = await askProduct(site, shapes);
  expect(shapes.filter(({ id }) => !/^(?:refused|asked)$/.test(verdicts.get(id) ?? ""))).toEqual([]);
});
