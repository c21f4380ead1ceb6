import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { generateSite } from "./generate.ts";

const { values } = parseArgs({
  options: { pages: { type: "string", default: "1000" }, out: { type: "string", default: "generated-site" } },
});
const pages = Number(values.pages);
if (!Number.isInteger(pages) || pages < 1) {
  console.error("--pages wants a whole number from 1 on");
  process.exit(2);
}

const out = resolve(values.out);
let files = 0;
for (const { path, content } of generateSite(pages)) {
  const target = join(out, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
  files++;
}
console.log(`${files} files in ${out}`);
