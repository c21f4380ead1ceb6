// Costly: only a browser makes pictures, and loads what a page names.
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { trySandbox } from "@emend/runners";
import { makePng } from "@emend/testkit/pictures.ts";
import { createOverlay, startBound } from "@emend/tree";
import { expect, it } from "vitest";
import { limitsWithBrowser, useBuilds } from "../test/use-builds.ts";
import { findChromium, readPictures } from "./take-pictures.ts";
import { tamePage } from "./tame-page.ts";

const path = process.env.PATH ?? "";
const trial = await trySandbox(startBound, path);
const chromium = await findChromium(path);
const pictures = it.skipIf(trial.kind !== "usable" || chromium === null);
const signal = new AbortController().signal;

/** Each page becomes a page of HTML, with what it has as it is. */
const builder = `
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
mkdirSync("out");
writeFileSync("out/dot.png", Buffer.from(readFileSync("dot.b64", "utf8"), "base64"));
writeFileSync("out/style.css", "body { margin: 0; font: 20px sans-serif } p { height: 100px; margin: 0 }");
for (const name of readdirSync("docs")) {
  const words = readFileSync("docs/" + name, "utf8").split("\\n\\n").map((part) => "<p>" + part + "</p>").join("");
  writeFileSync("out/" + name.replace(".md", ".html"), '<link rel="stylesheet" href="/style.css">' + words);
}`;
const files = {
  "docs/index.md": `# Home\n\n${"first\n\n".repeat(8)}last\n`,
  "docs/same.md": "# Same\n",
  "build.mjs": builder,
  "dot.b64": makePng().toString("base64"),
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

async function take(edits: Readonly<Record<string, string | null>>, own: { files?: object; command?: null } = {}) {
  const builds = bench.open();
  const base = await bench.trees.open({ ...files, ...own.files });
  const head = await createOverlay(base);
  for (const [name, text] of Object.entries(edits)) {
    if (text === null) await head.delete(name);
    else await head.set(name, Buffer.from(text));
  }
  const paths = Object.keys(edits);
  const taken = await builds.takePictures(
    { base, head, docsDir: "docs", settings: { ...settings, ...own }, paths, pagesMax: 6 },
    signal,
  );
  return (taken ?? []).map(({ webp, page, ...picture }) => ({
    ...picture,
    page: page && gunzipSync(page).toString(),
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

pictures("Docsify's pages are shown as they are (needs bubblewrap and Chromium)", async () => {
  const render = "fetch(location.hash.slice(1) + '.md').then((a) => a.text()).then((text) => app.append(text))";
  const docsify = (src: string) => ({
    "docs/_sidebar.md": "- [Same](same.md)\n",
    "docs/index.html": `<div id="app"></div><script>window.$docsify = {}</script><script src="${src}"></script>`,
    "docs/docsify.min.js": render,
  });
  const taken = await take({ "docs/same.md": "# Other\n" }, { files: docsify("docsify.min.js"), command: null });
  expect(taken.map(({ page }) => /# (\w+)/.exec(page ?? "")?.[1])).toEqual(["Same", "Other", undefined, undefined]);
  const builds = bench.open();
  const base = await bench.trees.open({ ...files, ...docsify("//cdn.example.com/docsify@4") });
  const task = { base, docsDir: "docs", settings: { ...settings, command: null } };
  expect(await builds.tryBase(task, signal)).toEqual({
    isBuilt: false,
    words:
      "the script of docsify comes from cdn.example.com, and a build has no network. Keep it in the repository, or turn build.on off",
  });
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

const pack = (...blocks: (object | Buffer)[]) =>
  Buffer.concat(
    blocks.flatMap((block) => {
      const bytes = Buffer.isBuffer(block) ? block : Buffer.from(JSON.stringify(block));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.byteLength);
      return [length, bytes];
    }),
  );

it("takes nothing that the browser could have made up", () => {
  const header = { path: "docs/a.md", side: "after", width: 1280, height: 100, marks: [[0, 50]] };
  const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8 ");
  const pages = [{ path: "docs/a.md", before: null, after: "/a" }];
  const read = (own: object, bytes = webp) =>
    readPictures(pack({ ...header, ...own }, bytes, Buffer.from("<p>")), pages).length;
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
  expect(readPictures(pack(header, webp, webp).subarray(0, -1), pages)).toEqual([]);
  expect(readPictures(Buffer.alloc(64, 255), pages)).toEqual([]);
});

pictures("keeps a page as one document, without what runs or loads (needs bubblewrap and Chromium)", async () => {
  const text = [
    '# Home <img src="/dot.png" onerror="evil()"> <a href="#part">part</a> <a href="https://example.com/">out</a>',
    '<script>document.title = "run"; document.body.append("made by a script");</script>',
    `<form action="https://example.com/"><input></form><iframe src="/"></iframe>`,
    '<style>h2 { background: url("/dot.png") } h3 { background: url("https://example.com/x.png") } :root { --dot: url(/dot.png) } h4 { mask: var(--dot) no-repeat; mask-size: 9px }</style><h2>Two</h2>',
  ].join("\n\n");
  const [, after] = await take({ "docs/index.md": `${text}\n` });
  const page = after?.page ?? "";
  expect(page).toContain("made by a script");
  expect(page).toContain('href="#part"');
  // The style sheet of the site, and the picture in it.
  expect(page).toContain("height: 100px");
  expect(page.match(/data:image\/png;base64,/g)).toHaveLength(3);
  expect(page).toContain("mask: var(--dot) no-repeat");
  expect(page).not.toMatch(/<(?:script|iframe|base|link|meta)|onerror|https?:/i);
});

it("shows no element of a frozen page that loads or leaves, and no page that is too large", () => {
  const header = { path: "a.md", side: "after", width: 1280, height: 100, marks: [] };
  const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8 ");
  const pages = [{ path: "a.md", before: null, after: "/a" }];
  const kept = (html: string) => {
    const [one] = readPictures(pack(header, webp, Buffer.from(html)), pages);
    return one?.page ? gunzipSync(one.page).toString() : null;
  };
  expect(kept("<link rel=dns-prefetch>")).toBe("<x-link rel=dns-prefetch>");
  expect(kept("x".repeat(6 * 2 ** 20))).toBeNull();
  expect(kept("")).toBeNull();
  const tame = tamePage(
    "<p><LINK rel=dns-prefetch><meta/refresh><a-b></a-b><svg><animate></svg></p><image src=x></link>",
  );
  expect(tame).toBe(
    "<p><x-LINK rel=dns-prefetch><x-meta/refresh><a-b></a-b><svg><x-animate></svg></p><x-image src=x></x-link>",
  );
});
