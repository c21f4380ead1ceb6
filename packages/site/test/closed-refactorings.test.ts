import { expect, it } from "vitest";
import { layouts } from "./support/random-layouts.ts";
import { refactorRandomly } from "./support/refactor-randomly.ts";

// `npm run fuzz:site` uses other seeds, for a given time.
const seeds = Array.from({ length: 10 }, (_, i) => i + 1);

it.each(layouts)("a second resolver finds every link of a refactored site of $name where it led", async (layout) => {
  for (const seed of seeds) expect(await refactorRandomly(layout, seed)).toEqual([]);
});
