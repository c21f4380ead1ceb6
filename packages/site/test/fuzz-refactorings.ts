import { parseArgs } from "node:util";
import { layouts } from "./support/random-layouts.ts";
import { refactorRandomly } from "./support/refactor-randomly.ts";

// Refactors random sites of every framework. A second resolver checks each step: `npm run fuzz:site -- --minutes 60`.
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    framework: { type: "string" },
  },
});
const until = performance.now() + Number(values.minutes) * 60_000;
let sites = 0;
let failures = 0;
for (let seed = Number(values.seed); performance.now() < until && failures < 10; seed++) {
  for (const layout of layouts) {
    if (values.framework !== undefined && !layout.name.startsWith(values.framework)) continue;
    const wrong = await refactorRandomly(layout, seed);
    sites++;
    if (wrong.length === 0) continue;
    failures++;
    console.error(wrong.join("\n  "));
  }
  if (seed % 50 === 0) console.log(`${sites} sites, up to seed ${seed}, ${failures} failures`);
}
console.log(`${sites} sites from seed ${values.seed} on, ${failures} failures`);
process.exitCode = failures === 0 ? 0 : 1;
