import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { writeSite } from "./generate.ts";

const { values } = parseArgs({
  options: {
    pages: { type: "string", default: "1000" },
    out: { type: "string", default: "generated-site" },
    style: { type: "string", default: "mintlify" },
  },
});
const pages = Number(values.pages);
const { style } = values;
if (!Number.isInteger(pages) || pages < 1 || (style !== "mintlify" && style !== "markdown")) {
  console.error("usage: make-site --pages N [--out FOLDER] [--style mintlify|markdown]");
  process.exit(2);
}
const out = resolve(values.out);
console.log(`${await writeSite(out, pages, style)} files in ${out}`);
