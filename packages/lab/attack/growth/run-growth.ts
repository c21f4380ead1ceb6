// How the time of everything that reads foreign text grows with its length: npm run growth -- [--only NAME] [--seed N]
// [--pairs N]
import { parseArgs } from "node:util";
import { growthInputs } from "./inputs.ts";
import { growthTargets, measureGrowth } from "./targets.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    pairs: { type: "string", default: "150" },
    only: { type: "string", default: "" },
  },
});
const bounds = { charactersFirst: 32_768, doublings: 3, ratioMax: 2.5, msLeast: 40, msMax: 3_000 };
let failures = 0;
for (const target of growthTargets.filter(({ name }) => name.includes(values.only))) {
  let tried = 0;
  let slowest = { ms: 0, name: "" };
  for (const { name, grow } of growthInputs({ seed: Number(values.seed), pairs: Number(values.pairs) })) {
    const { ms, isTooFast } = await measureGrowth(target, grow, bounds);
    tried += 1;
    const last = ms.at(-1) as number;
    if (last > slowest.ms) slowest = { ms: last, name };
    if (isTooFast) {
      failures += 1;
      console.log(`FAIL ${target.name}: ${name}: ${ms.map(Math.round).join(", ")} ms`);
    }
  }
  console.log(`${target.name}: ${tried} texts, slowest ${Math.round(slowest.ms)} ms (${slowest.name})`);
}
process.exitCode = failures > 0 ? 1 : 0;
