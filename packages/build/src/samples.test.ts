import { join } from "node:path";
import { findProgram, trySandbox } from "@emend/runners";
import { createOverlay, startBound } from "@emend/tree";
import { expect, it } from "vitest";
import { useBuilds } from "../test/use-builds.ts";
import { firstDifference, readResults, samplesToRun } from "./samples.ts";

const trial = await trySandbox(startBound, process.env.PATH ?? "");
const runs = it.skipIf(trial.kind !== "usable");
const signal = new AbortController().signal;
const fence = "```";
const block = (info: string, ...lines: string[]) => `${fence}${info}\n${lines.join("\n")}\n${fence}\n`;

const bench = useBuilds();

/** What is said of a page that becomes `page`. Nothing builds this site. */
async function judged(
  page: string,
  { samples = ["marked"], service = null, before = "# A\n", files = {} }: Partial<Parameters<typeof open>[0]> = {},
): Promise<readonly string[]> {
  return open({ page, samples, service, before, files });
}

async function open(task: {
  page: string;
  samples: readonly string[];
  service: string | null;
  before: string;
  files: Readonly<Record<string, string>>;
}): Promise<readonly string[]> {
  const base = await bench.trees.open({ "docs/a.md": task.before, ...task.files });
  const head = await createOverlay(base);
  await head.set("docs/a.md", Buffer.from(task.page));
  const builds = bench.open();
  const { samples, service } = task;
  const settings = { on: true, command: null, output: null, samples, service, packages: "none" } as const;
  const change = { base, head, docsDir: "docs", settings, paths: ["docs/a.md"], isAllowedHost: () => false };
  const found = await builds.judge(change, signal);
  return found
    .filter(({ check }) => check === "sample")
    .map(({ severity, path, line, message }) => `${severity} ${path}:${line} ${message}`);
}

runs(
  "runs the marked samples of a changed page, and compares what they print with what the page states (needs bubblewrap)",
  async () => {
    const page = [
      "# A\n",
      block("sh emend:run", "echo one > made.txt", "date +%Y-%m-%d"),
      block("text output", "2020-01-31"),
      block(
        "js emend:run",
        'import { readFileSync } from "node:fs";',
        'console.log(readFileSync("made.txt", "utf8").trim());',
      ),
      block("output", "two"),
      block("console emend:run", "$ cat src.txt", "code of the project", "$ echo", "..."),
      block("ts emend:run=fails", "const code: number = 3;", "process.exit(code);"),
      block("sh", "exit 9"),
    ].join("\n");
    const today = new Date().toISOString().slice(0, 10);
    expect(await judged(page, { files: { "src.txt": "code of the project\n" } })).toEqual([
      'error docs/a.md:12 the page states "two" where this sample prints "one"',
      expect.stringMatching(
        new RegExp(`^info the site:1 3 samples ran as the pages say, on ${today} with the code of [0-9a-f]{10}$`),
      ),
    ]);
  },
);

runs(
  "runs every sample of a chosen language; one that failed before the change is a warning (needs bubblewrap)",
  async () => {
    const old = block("bash", "echo it is broken >&2", "exit 4");
    const page = `# A\n\n${old}\n${block("bash emend:skip", "exit 5")}\n${block("bash", "exit 6")}`;
    expect(await judged(page, { samples: ["bash"], before: `# A\n\n${old}` })).toEqual([
      "warning docs/a.md:3 this sample ended with code 4: it is broken",
      "error docs/a.md:12 this sample ended with code 6",
    ]);
  },
);

const goRuns = it.skipIf(trial.kind !== "usable" || (await findProgram("go", process.env.PATH ?? "")) === null);
goRuns("runs samples in Go (needs bubblewrap and Go)", async () => {
  const program = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(6 * 7) }';
  const page = `# A\n\n${block("go emend:run", program)}\n${block("output", "42")}\n${block("go emend:run", "package main\n\nfunc main() { gone() }")}`;
  expect(await judged(page)).toEqual([
    expect.stringMatching(/^error docs\/a\.md:15 this sample ended with code \d: .*undefined: gone/),
    expect.stringMatching(/^info the site:1 1 sample ran/),
  ]);
});

runs("says how many samples are too many to run (needs bubblewrap)", async () => {
  const page = `# A\n\n${`${block("sh emend:run", "true")}\n`.repeat(52)}`;
  expect(await judged(page)).toEqual([
    expect.stringMatching(/^info the site:1 50 samples ran/),
    "warning the site:1 samples that did not run: 2. A job runs 50 on each of 20 pages",
  ]);
});

runs("asks a service of the project, which only the sandbox has (needs bubblewrap)", async () => {
  const server = `require("node:http").createServer((request, answer) => {
    answer.setHeader("content-type", "application/json");
    answer.end(JSON.stringify({ id: "0f8fad5b-d9cb-469f-a165-70867728950e", path: request.url }));
  }).listen(8123);`;
  const files = { "server.cjs": server };
  const page = [
    "---\nemend: run\n---\n# A\n",
    block("http", "GET http://localhost:8123/pages"),
    block("json output", '{ "path": "/pages", "id": "7c9e6679-7425-40de-944b-e07fc1f90ae7" }'),
    block("http", "GET /other", "Host: localhost:8123"),
    block("json output", '{ "path": "/pages", "id": "7c9e6679-7425-40de-944b-e07fc1f90ae7" }'),
  ].join("\n");
  expect(await judged(page, { service: "node server.cjs", files })).toEqual([
    expect.stringMatching(
      /^error docs\/a\.md:14 the page states " \\"path\\": \\"\/pages\\"" where this sample prints/,
    ),
    expect.stringMatching(/^info the site:1 1 sample ran/),
  ]);
  expect(await judged(page, { files })).toEqual([
    "error docs/a.md:6 this sample did not run: nothing answers at localhost:8123",
    "error docs/a.md:14 this sample did not run: nothing answers at localhost:8123",
  ]);
});

runs(
  "a sample reaches no network and no file of the server, and cannot report for the others (needs bubblewrap)",
  async () => {
    process.env.EMEND_CANARY = "canary";
    try {
      const page = [
        "# A\n",
        block("sh emend:run", `cat ${join(bench.dir, "..")}/* 2>/dev/null; env; exit 3`),
        block("js emend:run", 'await fetch("http://192.0.2.1/", { signal: AbortSignal.timeout(5_000) });'),
        block("sh emend:run", "kill -9 $PPID"),
      ].join("\n");
      const found = await judged(page);
      expect(found).toEqual(["warning docs/a.md:1 the samples did not run: a sample ended the program that runs them"]);
      const [first, second] = await judged(page.replace("kill -9 $PPID", "true"));
      expect(first).toMatch(/^error docs\/a\.md:3 this sample ended with code 3/);
      expect(first).not.toContain("canary");
      expect(second).toMatch(/^error docs\/a\.md:7 this sample ended with code 1/);
    } finally {
      delete process.env.EMEND_CANARY;
    }
  },
);

it("runs nothing that nobody marked or chose", () => {
  const sample = (info: string) => ({ language: info.split(" ")[0] ?? "", info, text: "true", line: 1 });
  const page = (isMarked: boolean, ...infos: string[]) => ({ samples: infos.map(sample), isMarked });
  expect(samplesToRun(page(true, "sh emend:run", "sh"), [])).toEqual([]);
  expect(samplesToRun(page(false, "sh", "python"), ["marked", "bash"])).toEqual([]);
  expect(samplesToRun(page(true, "sh", "sh emend:skip", "yaml"), ["marked"])).toHaveLength(1);
});

it.each(["", "null", "[]", '[{ "code": 0 }]', '[{ "code": "0", "output": "", "words": "" }]'])(
  "does not believe %j",
  (report) => {
    expect(readResults(report, 1)).toBeNull();
  },
);

it.each([
  ["a\nb", "a\nb\n", null],
  ["took 3 ms", "took 41 ms", null],
  ["a\n...\nc", "a\nb\nb\nc", null],
  ["a\n...", "a\nb", null],
  ["a", "a\nb", 'this sample also prints "b", which the page does not state'],
  ["a\nb", "a", 'the page states "b" where this sample prints nothing'],
  ['{"b": 1, "a": 2}', '{"a": 2,\n"b": 1}', null],
  ["id 0123456789ab", "id ba9876543210", null],
  ["version 3", "version 4", 'the page states "version 3" where this sample prints "version 4"'],
])("%j and %j", (expected, output, difference) => {
  expect(firstDifference(expected, output)).toBe(difference);
});
