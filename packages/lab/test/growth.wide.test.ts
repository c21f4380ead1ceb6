import { expect, it } from "vitest";
import { staircase } from "../attack/growth/inputs.ts";
import { growthTargets, measureGrowth } from "../attack/growth/targets.ts";

/** Each once took quadratic time, repeated or in runs of growing length. `npm run growth` looks for more. */
const once = [
  "{%",
  "{{",
  "a {/*\n\n",
  "<div>\n<a b=",
  "a <!--\n\n",
  "<summary>",
  "xapp-1-a ",
  "[",
  "`a",
  "https:",
  "export {",
  "{: #a ",
  "# a\n",
];
// Sixteen times the text in two steps of four: quadratic time would make each step take sixteen times as long.
const bounds = { charactersFirst: 8_192, doublings: 3, ratioMax: 3.5, msLeast: 250, msMax: 8_000 };

it.each(growthTargets.filter(({ isSlow }) => !isSlow))("$name: time does not outgrow the text", async (target) => {
  const outgrown: string[] = [];
  for (const piece of once) {
    const repeated = (n: number) => piece.repeat(Math.ceil(n / piece.length));
    for (const grow of piece === "`a" ? [repeated, (n: number) => staircase("`", n)] : [repeated]) {
      const { ms, isTooFast } = await measureGrowth(target, grow, bounds);
      if (isTooFast) outgrown.push(`${piece}: ${ms.map(Math.round).join(", ")} ms`);
    }
  }
  expect(outgrown).toEqual([]);
});

it("a configuration with many keys is read in time that grows as its length does", async () => {
  const target = growthTargets.find(({ name }) => name === "a configuration in YAML");
  if (target === undefined) throw new Error("there is no such target");
  const keys = (n: number) => Array.from({ length: Math.ceil(n / 8) }, (_, index) => `k${index}: 1`).join("\n");
  expect((await measureGrowth(target, keys, bounds)).isTooFast).toBe(false);
});

it("a page with more cells, ids or code than the stack size is read", () => {
  const scan = growthTargets.find(({ name }) => name === "facts of a page: Markdown");
  for (const page of [
    `| a |\n|-|\n${"| ".repeat(200_000)}`,
    '<a id="x"></a> '.repeat(150_000),
    "`a` ".repeat(150_000),
  ]) {
    expect(() => scan?.read(page)).not.toThrow();
  }
});
