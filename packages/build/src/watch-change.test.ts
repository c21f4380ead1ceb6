// Costly: only a browser says what a changed page runs and loads.
import { deflateSync } from "node:zlib";
import { trySandbox } from "@emend/runners";
import { createOverlay, startBound } from "@emend/tree";
import { expect, it, vi } from "vitest";
import { limitsWithBrowser, useBuilds } from "../test/use-builds.ts";
import { findChromium } from "./take-pictures.ts";
import { findingsOfWatch, readReport } from "./watch-change.ts";

vi.setConfig({ testTimeout: 120_000 });

const path = process.env.PATH ?? "";
const trial = await trySandbox(startBound, path);
const chromium = await findChromium(path);
const browser = it.skipIf(trial.kind !== "usable" || chromium === null);
const signal = new AbortController().signal;

/**
 * Each page becomes a page of HTML, with what it has as it is, a script that differs only in its data, and a bundle with
 * a hash in its name. `COPY` publishes a file of the machine, `SHOW` its text.
 */
const builder = `
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
mkdirSync("out/assets", { recursive: true });
mkdirSync("out/_downloads");
const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
const data = Object.fromEntries(pages.map((name) => [name, readFileSync("docs/" + name, "utf8")]));
const hash = createHash("sha1").update(JSON.stringify(data)).digest("hex").slice(0, 8);
writeFileSync("out/assets/app." + hash + ".js", "window.app = " + JSON.stringify(Object.keys(data)));
for (const name of readdirSync("docs")) if (!name.endsWith(".md")) copyFileSync("docs/" + name, "out/" + name);
for (const [name, text] of Object.entries(data)) {
  const [, copied] = /^COPY (.*)$/m.exec(text) ?? [];
  if (copied) copyFileSync(copied, "out/_downloads/" + name.replace(".md", ""));
  const body = text.replace(/^SHOW (.*)$/m, (_, file) => readFileSync(file, "utf8"));
  writeFileSync("out/" + name.replace(".md", ".html"), '<!doctype html><script src="/assets/app.' + hash + '.js"></script>' +
    "<script>window.data = JSON.parse(" + JSON.stringify(JSON.stringify({ hash, text: name })) + '); app.push({ name: "' + name + '", size: [' + text.length + "] })</script>" + body);
}`;
const knownScript =
  "<script>if (document.querySelector('u')) for (;;) {}\nfor (const { dataset } of document.querySelectorAll('i')) fetch(dataset.at)</script>";
const files = {
  "docs/index.md": `# Home\n\n<a href="https://known.dev/x">known</a> <button onclick="go('a')">Go</button>\n${knownScript}\n`,
  "docs/guide.md": "# Guide\n",
  "build.mjs": builder,
  "notes/plan.txt": "what nobody should read",
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

async function open(edits: Readonly<Record<string, string | Buffer>>) {
  const base = await bench.trees.open(files);
  const head = await createOverlay(base);
  for (const [name, text] of Object.entries(edits)) await head.set(name, Buffer.from(text));
  const task = { base, head, docsDir: "docs", settings, paths: Object.keys(edits) };
  return { builds: bench.open(), task };
}

/** What is found, by page. */
async function judge(edits: Readonly<Record<string, string | Buffer>>, allowed: readonly string[] = []) {
  const { builds, task } = await open(edits);
  const found = await builds.judge({ ...task, isAllowedHost: (host) => allowed.includes(host) }, signal);
  return found.map(({ check, severity, path: at, message }) => `${check} ${severity} ${at}: ${message}`).sort();
}

browser(
  "finds nothing where words change, with data and names of bundles (needs bubblewrap and Chromium)",
  async () => {
    const guide = `# Guide\n\nMore <b>words</b>, <a href="https://known.dev/y">a link</a>, <a href="https://example.com">an example</a>.\n`;
    const used = `# New\n\n<button onclick="go('b')">Go</button>\n${knownScript}\n<pre>&lt;script&gt;</pre>\n`;
    const picture = `<img src="/a.png"> <a href="mailto:a@b.dev">us</a> <a href="#x" title="javascript: a word">x</a>`;
    expect(await judge({ "docs/guide.md": guide, "docs/new.md": used, "docs/more.md": picture })).toEqual([]);
  },
);

const clobbered =
  "<form><input name=attributes><input name=localName><input name=getAttributeNames><input name=querySelectorAll></form>";
/** By what is said of it. */
const hostile: readonly (readonly [words: string, text: string])[] = [
  ["runs a script", "<script>go()</script>"],
  ["has an event handler", "<b onclick=steal()>x</b>"],
  ["has an address of a kind", '<a href="java&#9;script:go()">x</a>'],
  ["has an address of a kind", '<a href="data:text/html,x">x</a>'],
  ["runs a script", "<svg><script>go()</script></svg>"],
  ["runs a script", '<script src="/notes.txt"></script>'],
  ["runs a script", "<template><script>go()</script></template>"],
  ["runs a script", '<div><template shadowrootmode="open"><script>go()</script></template></div>'],
  ["has text for browsers without", '<noscript><p title="</noscript><script>go()</script>"></noscript>'],
  ["shows a frame", '<iframe src="/guide.html"></iframe>'],
  ["shows a frame", '<iframe srcdoc="&lt;script>go()&lt;/script>"></iframe>'],
  ["shows a frame", '<object data="/guide.html"></object>'],
  ["has a form", clobbered],
  ["names a domain", clobbered.replace("<form", "<form action=https://away.dev/x")],
  ["names a domain", '<meta http-equiv="refresh" content="0; url=https://away.dev/">'],
  ["has an instruction", `<meta http-equiv="refresh" content="0; 'https://away.dev/'">`],
  ["changes where its links lead", '<base href="https://away.dev/">'],
  ["names a domain", '<a href="//away.dev">x</a>'],
  ["names a domain", '<img srcset="https://away.dev/x.png 2x">'],
  ["names a domain", '<p style="background:u\\72l(https://aw\\61y.dev/x)">x</p>'],
  ["names a domain", "<style>@\\69mport '//away.dev/x';</style>"],
  ["contacts a domain", `<i data-at="https://away.dev/x">x</i>${knownScript}`],
  ["does not answer", `<u>x</u>${knownScript}`],
];
browser("finds what acts on a page, as the browser reads it (needs bubblewrap and Chromium)", async () => {
  const pages = hostile.map(([, text], at) => [`docs/p${at}.md`, text] as const);
  // A refusal names as many as people read.
  const found = [
    ...(await judge(Object.fromEntries(pages.slice(0, 11)))),
    ...(await judge(Object.fromEntries(pages.slice(11)))),
  ];
  const missed = hostile.filter(
    ([words], at) => !found.some((one) => one.includes(` error docs/p${at}.md: the built page p${at}.html ${words}`)),
  );
  expect(missed).toEqual([]);
  // What the change says is a question. What it says in other words may be the builder's own, and makes a draft.
  const checkOf = (at: number) => found.find((one) => one.includes(` docs/p${at}.md: `))?.split(" ")[0];
  expect(hostile.slice(0, 3).map((_, at) => checkOf(at))).toEqual(["built-edit", "built-edit", "build"]);
});

browser("a domain may be new if people asked for it (needs bubblewrap and Chromium)", async () => {
  const edit = { "docs/guide.md": '<a href="https://asked.dev/">x</a>' };
  expect(await judge(edit, ["asked.dev"])).toEqual([]);
  expect(await judge(edit)).toEqual([
    "built-edit error docs/guide.md: the built page guide.html names a domain that no page of the base branch names: asked.dev",
  ]);
});

browser("finds files from elsewhere, and data of the machine (needs bubblewrap and Chromium)", async () => {
  const edits = { "docs/a.md": "COPY notes/plan.txt", "docs/b.md": "SHOW /proc/self/environ", "docs/c.txt": "a file" };
  expect(await judge(edits)).toEqual([
    expect.stringContaining("the built page b.html shows data of the machine"),
    expect.stringContaining("the built page _downloads/a is a file that is not in the documentation"),
  ]);
});

/** 30,000 × 30,000 pixels in a file of 100 KiB. */
function bomb(): Buffer {
  const table = Array.from({ length: 256 }, (_, n) => {
    let crc = n;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
    return crc;
  });
  const chunk = (kind: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(kind), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.byteLength);
    let crc = 0xffffffff;
    for (const byte of named) crc = (table[(crc ^ byte) & 255] as number) ^ (crc >>> 8);
    sum.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
    return Buffer.concat([length, named, sum]);
  };
  const size = 30_000;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size);
  head.writeUInt32BE(size, 4);
  head.set([1, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc(size * (1 + size / 8)));
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  return Buffer.concat([mark, chunk("IHDR", head), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
}

browser("a huge picture and a page that never ends keep nobody waiting (needs bubblewrap and Chromium)", async () => {
  const edits = {
    "docs/bomb.png": bomb(),
    "docs/a.md": '<img src="/bomb.png">'.repeat(20),
    "docs/b.md": `<u>x</u>${knownScript}`,
    "docs/guide.md": '# Guide\n\n<img src="/%ff"> more\n',
  };
  const { builds, task } = await open(edits);
  const found = await builds.judge({ ...task, isAllowedHost: () => false }, signal);
  expect(found.map(({ path: at }) => at)).toEqual(["docs/b.md"]);
  const pictures = await builds.takePictures({ ...task, pagesMax: 6 }, signal);
  expect(pictures?.filter(({ width }) => width === 1280).map(({ path: at, side }) => `${side} ${at}`)).toEqual(
    expect.arrayContaining(["before docs/guide.md", "after docs/guide.md"]),
  );
});

it("believes nothing that the browser could have made up, and a comparison without an end is an error", () => {
  const pack = (...lines: unknown[]) =>
    Buffer.concat(
      lines.flatMap((line) => {
        const bytes = Buffer.from(JSON.stringify(line));
        const length = Buffer.alloc(4);
        length.writeUInt32BE(bytes.byteLength);
        return [length, bytes];
      }),
    );
  const seen = { path: "a.html", source: null, kind: "script", text: "go()" };
  const watched = readReport(pack(seen, null, 1, { ...seen, kind: "toString" }, { ...seen, text: 1 }, { done: 1 }));
  expect(watched).toEqual({ seen: [seen], isWhole: false, read: 0, of: 0 });
  const isAllowedHost = () => true;
  const checks = (changed: string) => findingsOfWatch(watched, { isAllowedHost, changed }).map(({ check }) => check);
  expect(checks("x go()")).toEqual(["built-edit", "build"]);
  expect(checks("x")).toEqual(["build", "build"]);
  const whole = readReport(pack({ read: 5, of: 9 }, { done: true }));
  expect(findingsOfWatch(whole, { isAllowedHost, changed: "" })).toMatchObject([{ severity: "warning" }]);
});
