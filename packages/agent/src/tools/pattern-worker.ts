import { parentPort } from "node:worker_threads";
import type { PatternAnswer, PatternQuestion } from "./replace-by-pattern.ts";

const samplesMax = 10;
const sampleCharactersMax = 120;

parentPort?.on("message", ({ files, pattern, by }: PatternQuestion) => {
  const expression = new RegExp(pattern, "gm");
  const samples: [string, string][] = [];
  const changed = files.flatMap(({ path, text }) => {
    const found = [...text.matchAll(expression)];
    for (const [whole] of found.slice(0, samplesMax - samples.length)) {
      const one = whole.replace(new RegExp(pattern, "m"), by);
      samples.push([whole.slice(0, sampleCharactersMax), one.slice(0, sampleCharactersMax)]);
    }
    return found.length === 0 ? [] : [{ path, text: text.replace(expression, by), count: found.length }];
  });
  parentPort?.postMessage({ files: changed, samples } satisfies PatternAnswer);
});
