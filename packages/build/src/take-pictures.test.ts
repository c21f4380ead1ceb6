import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { trySandbox } from "@emend/runners";
import { createOverlay, startBound } from "@emend/tree";
import { expect, it } from "vitest";
import { limitsWithBrowser, useBuilds } from "../test/use-builds.ts";
import { findChromium, readPictures } from "./take-pictures.ts";

const path = process.env.PATH ?? "";
const trial = await trySandbox(startBound, path);
const chromium = await findChromium(path);
const pictures = it.skipIf(trial.kind !== "usable" || chromium === null);
const signal = new AbortController().signal;

/** Each page becomes a page of HTML, with what it has as it is. */
const builder = `
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
mkdirSync("out");
writeFileSync("out/style.css", "body { margin: 0; font: 20px sans-serif } p { height: 100px; margin: 0 }");
for (const name of readdirSync("docs")) {
  const words = readFileSync("docs/" + name, "utf8").split("\\n\\n").map((part) => "<p>" + part + "</p>").join("");
  writeFileSync("out/" + name.replace(".md", ".html"), '<link rel="stylesheet" href="/style.css">' + words);
}`;
const files = {
  "docs/index.md": `# Home\n\n${"first\n\n".repeat(8)}last\n`,
  "docs/same.md": "# Same\n",
  "build.mjs": builder,
};
const settings = {
  on: true,
  command: "node build.mjs",
  output: "out",
  samples: [],
  service: null,
  packages: "none",
} as const;
const bench = useBuilds(limitsWithBrowser);

async function take(edits: Readonly<Record<string, string | null>>) {
  const builds = bench.open();
  const base = await bench.trees.open(files);
  const head = await createOverlay(base);
  for (const [name, text] of Object.entries(edits)) {
    if (text === null) await head.delete(name);
    else await head.set(name, Buffer.from(text));
  }
  const paths = Object.keys(edits);
  const taken = await builds.takePictures({ base, head, docsDir: "docs", settings, paths, pagesMax: 6 }, signal);
  return (taken ?? []).map(({ webp, ...picture }) => ({
    ...picture,
    isWebp: webp.toString("latin1", 8, 12) === "WEBP",
  }));
}

pictures("shows a changed page on both sides, and the rows that differ (needs bubblewrap and Chromium)", async () => {
  const [before, after, ...narrow] = await take({
    "docs/index.md": files["docs/index.md"].replace("last", "middle\n\nlast"),
  });
  expect(before).toMatchObject({ path: "docs/index.md", side: "before", width: 1280, height: 1000, isWebp: true });
  expect(after).toMatchObject({ path: "docs/index.md", side: "after", width: 1280, height: 1100, isWebp: true });
  // A paragraph of 100 pixels that came in between: what moved down is no difference.
  const marked = (after?.marks ?? []).reduce((sum, [from, to]) => sum + to - from, 0);
  expect(marked).toBeGreaterThan(0);
  expect(marked).toBeLessThan(110);
  expect(before?.marks).toEqual([]);
  expect(narrow.map(({ side, width }) => `${side} ${width}`)).toEqual(["before 390", "after 390"]);
  // Nothing but what is kept on purpose: the results and the sites of both sides.
  expect((await readdir(join(bench.dir, "sites"))).filter((name) => !/^[0-9a-f]{64}$/.test(name))).toEqual([]);
});

pictures("a new page has no picture before, and a deleted one none after (needs bubblewrap and Chromium)", async () => {
  const taken = await take({ "docs/new.md": "# New\n", "docs/same.md": null });
  expect(taken.filter(({ width }) => width === 1280).map((one) => `${one.side} ${one.path}`)).toEqual([
    "after docs/new.md",
    "before docs/same.md",
  ]);
});

pictures("a page's scripts reach no server of this machine (needs bubblewrap and Chromium)", async () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.end("<p>reached</p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const script = `<script>fetch("${url}"); location = "${url}"; for (let n = 0; n < 3; n++) alert(n);</script>`;
  const taken = await take({ "docs/index.md": `# Home\n\n${script}\n` });
  server.close();
  expect(taken.length).toBeGreaterThan(0);
  expect(asked).toBe(0);
});

it("takes nothing that the browser could have made up", () => {
  const header = { path: "docs/a.md", side: "after", width: 1280, height: 100, marks: [[0, 50]] };
  const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8 ");
  const pack = (...blocks: (object | Buffer)[]) =>
    Buffer.concat(
      blocks.flatMap((block) => {
        const bytes = Buffer.isBuffer(block) ? block : Buffer.from(JSON.stringify(block));
        const length = Buffer.alloc(4);
        length.writeUInt32BE(bytes.byteLength);
        return [length, bytes];
      }),
    );
  const pages = [{ path: "docs/a.md", before: null, after: "/a" }];
  const read = (own: object, bytes = webp) => readPictures(pack({ ...header, ...own }, bytes), pages).length;
  expect(read({})).toBe(1);
  expect(read({ path: "docs/other.md" })).toBe(0);
  expect(read({ side: "<b>" })).toBe(0);
  expect(read({ width: 1281 })).toBe(0);
  expect(read({ height: 5000 })).toBe(0);
  expect(read({ marks: [[0, 101]] })).toBe(0);
  expect(read({ marks: "all" })).toBe(0);
  expect(read({}, Buffer.from("<svg onload=alert(1)>"))).toBe(0);
  expect(read({}, Buffer.concat([webp, Buffer.alloc(2 * 2 ** 20)]))).toBe(0);
  // A block that is cut off, and one that says it is 4 GB long.
  expect(readPictures(pack(header, webp).subarray(0, -1), pages)).toEqual([]);
  expect(readPictures(Buffer.alloc(64, 255), pages)).toEqual([]);
});
