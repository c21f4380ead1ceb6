// Costly: only a browser makes pictures.
import { trySandbox } from "@emend/runners";
import { createOverlay, startBound } from "@emend/tree";
import { expect, it } from "vitest";
import { limitsWithBrowser, useBuilds } from "../test/use-builds.ts";
import { readScreenshotReport, type TakenScreenshot } from "./screenshots.ts";
import { findChromium } from "./take-pictures.ts";

const path = process.env.PATH ?? "";
const trial = await trySandbox(startBound, path);
const chromium = await findChromium(path);
const takes = it.skipIf(trial.kind !== "usable" || chromium === null);
const signal = new AbortController().signal;
const bench = useBuilds(limitsWithBrowser);

/** Greets whoever says a name, and counts how often since it was started. */
const page = (colour: string, more = "") => `
const { createServer } = require("node:http");
let asked = 0;
createServer((request, answer) => {
  asked += 1;
  answer.setHeader("content-type", "text/html");
  answer.end(\`<body style="margin:0;background:${colour};height:3000px"><h1>\${asked}</h1>${more}<input id="name" style="font-size:20px">
    <button id="go" onclick="setTimeout(() => out.textContent = 'Hello ' + document.querySelector('#name').value, 300)">Go</button>
    <p id="out" style="width:300px;height:50px"></p></body>\`);
}).listen(8123);`;
const one = { file: "docs/hello.png", open: "http://localhost:8123/", window: [400, 300] };
const greets = [{ fill: "#name", text: "Ada" }, { click: "#go" }, { wait: "Hello Ada" }];
const settings = {
  on: true,
  command: null,
  output: null,
  samples: [],
  service: "node server.cjs",
  packages: "none",
} as const;

async function take(
  screenshots: object[] | string,
  { files = {}, own = {}, edits = {} as Record<string, string | Buffer>, config = {} } = {},
): Promise<readonly TakenScreenshot[] | string> {
  const declared = typeof screenshots === "string" ? screenshots : JSON.stringify({ screenshots });
  const all = { "server.cjs": page("white"), "docs/a.md": "# A\n", ".emend/screenshots.json": declared, ...files };
  const base = await bench.trees.open(all);
  const head = await createOverlay(base);
  for (const [name, text] of Object.entries(edits)) await head.set(name, Buffer.from(text));
  return bench.open(config).takeScreenshots({ base, head, docsDir: "docs", settings: { ...settings, ...own } }, signal);
}

const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];

takes(
  "takes a screenshot of a service, and again only if it looks different (needs bubblewrap and Chromium)",
  async () => {
    const declared = [
      { ...one, steps: greets },
      { ...one, file: "docs/crop.png", crop: "#out", theme: "dark" },
    ];
    const taken = await take(declared);
    if (typeof taken === "string") throw new Error(taken);
    const [whole, crop] = taken;
    if (whole?.kind !== "renewed" || crop?.kind !== "renewed") throw new Error(JSON.stringify(taken));
    expect(sizeOf(whole.bytes)).toEqual([400, 300]);
    expect(sizeOf(crop.bytes)).toEqual([300, 50]);
    const there = { "docs/hello.png": whole.bytes, "docs/crop.png": crop.bytes };
    expect(await take(declared, { edits: there })).toEqual([
      { file: "docs/hello.png", kind: "same" },
      { file: "docs/crop.png", kind: "same" },
    ]);
    const changed = await take(declared, { edits: there, files: { "server.cjs": page("gold") } });
    expect(changed).toMatchObject([{ kind: "renewed" }, { kind: "renewed" }]);
  },
);

takes("what differs each time is no change (needs bubblewrap and Chromium)", async () => {
  const files = { "server.cjs": page("white", "<p>$" + "{Math.random()}</p>") };
  const [first] = (await take([one], { files })) as TakenScreenshot[];
  if (first?.kind !== "renewed") throw new Error("not taken");
  expect(await take([one], { files, edits: { "docs/hello.png": first.bytes } })).toEqual([
    { file: "docs/hello.png", kind: "same" },
  ]);
});

takes("takes a page of the built site, with the change in it (needs bubblewrap and Chromium)", async () => {
  const build = `import { cpSync, mkdirSync } from "node:fs"; mkdirSync("out"); cpSync("docs/a.md", "out/a.html");`;
  const own = { command: "node build.mjs", output: "out" };
  const pages = [
    { file: "docs/a.png", open: "/a" },
    { file: "docs/b.png", open: "/b" },
  ];
  expect(await take(pages, { files: { "build.mjs": build }, own, edits: { "docs/a.md": "<h1>B</h1>" } })).toMatchObject(
    [
      { file: "docs/a.png", kind: "renewed" },
      { file: "docs/b.png", kind: "failed", words: "the built site has no page /b" },
    ],
  );
});

takes("says what a step did not find, and goes on with the next (needs bubblewrap and Chromium)", async () => {
  const lost = { ...one, file: "docs/lost.png", steps: [{ click: "#nowhere" }] };
  const bomb = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\0\0\0", "latin1");
  expect(await take([lost, one], { edits: { "docs/hello.png": bomb } })).toMatchObject([
    { kind: "failed", words: 'the page has no visible element "#nowhere" within 10 s' },
    { file: "docs/hello.png", kind: "renewed" },
  ]);
});

takes("a page that hangs takes no more than the time of a build (needs bubblewrap and Chromium)", async () => {
  const files = { "server.cjs": page("white").replace("</body>", "<script>while (location.hash) {}</script></body>") };
  const limits = { ...limitsWithBrowser, timeoutMs: 15_000 };
  const hangs = { ...one, file: "docs/hangs.png", open: "http://localhost:8123/#hangs" };
  expect(await take([one, hangs], { files, config: { limits } })).toMatchObject([
    { file: "docs/hello.png", kind: "renewed" },
    { file: "docs/hangs.png", kind: "failed", words: "the screenshots did not end within 15 s" },
  ]);
});

takes("a service that ends the program beside it is told apart (needs bubblewrap and Chromium)", async () => {
  const files = {
    "server.cjs": "process.kill(process.ppid, 'SIGKILL'); setInterval(() => {}, 1000);",
  };
  expect(await take([one], { files })).toMatchObject([{ file: "docs/hello.png", kind: "failed" }]);
});

takes("only the base branch says how screenshots are made (needs bubblewrap and Chromium)", async () => {
  const edits = {
    ".emend/screenshots.json": JSON.stringify({ screenshots: [one, { ...one, file: "docs/more.png" }] }),
  };
  expect(await take([one], { edits })).toMatchObject([{ file: "docs/hello.png" }]);
  expect(await take("{", {})).toMatch(/^\.emend\/screenshots\.json cannot be read: it is not valid JSON/);
});

it("takes nothing that was not asked for, and no picture that is too large", () => {
  const pack = (...blocks: (object | Buffer)[]) =>
    Buffer.concat(
      blocks.flatMap((block) => {
        const bytes = Buffer.isBuffer(block) ? block : Buffer.from(JSON.stringify(block));
        const length = Buffer.alloc(4);
        length.writeUInt32BE(bytes.byteLength);
        return [length, bytes];
      }),
    );
  const asked = [{ ...one, steps: [], theme: "light", crop: null, code: [], window: [400, 300] } as const];
  const read = (header: object, bytes = Buffer.from("png")) => readScreenshotReport(pack(header, bytes), asked).length;
  expect(read({ file: one.file, kind: "renewed" })).toBe(1);
  expect(read({ file: "docs/other.png", kind: "renewed" })).toBe(0);
  expect(read({ file: one.file, kind: "renewed" }, Buffer.alloc(6 * 2 ** 20))).toBe(0);
  expect(read({ file: one.file, kind: "renewed" }, Buffer.alloc(0))).toBe(0);
  expect(read({ file: one.file, kind: "else" })).toBe(0);
});
