import type { Evidence } from "@emend/base/evidence.ts";
import { expect, test } from "vitest";
import { findCandidates } from "./candidates.ts";
import { findLostContent } from "./lost-content.ts";

const code = `export const options = {
  host: { type: "string", default: "127.0.0.1" },
  maxRetries: { type: "number", default: 3 },
  timeoutMs: { type: "number", default: 90_000 },
  cacheBytes: { type: "number", default: 64 * 1024 * 1024 },
};
server.listen(options.port);
`;

/** The candidates for a page that gains these lines after `code` was read. Notes are in brackets. */
async function unsupported(text: string, given: Given = {}): Promise<readonly string[]> {
  const { before = "# Options\n\nStart it with `mint dev`.\n", summary = "", ...evidence } = given;
  const after = `${before}${text}`;
  const first = before.split("\n").length;
  const added = text.split("\n").map((line, index) => ({ path: "a.md", line: first + index, text: line }));
  const log = [
    { kind: "read" as const, text: code },
    { kind: "wrote" as const, text },
  ];
  const all = { asked: ["Document the options"], log, sources: [], ...evidence };
  const words = [{ path: "the summary", line: 1, text: summary }];
  const changed = ["a.md", before, after];
  const found = await findCandidates(
    { pages: [{ path: "a.md", before, after }], added, words, changed },
    { ...all, log: all.log ?? log },
  );
  return found.map(({ message, severity }) => {
    const name = /`([^`]+)`/.exec(message)?.[1] ?? message;
    return severity === "error" ? name : `(${name})`;
  });
}

type Given = Partial<Evidence> & { before?: string; summary?: string };

test.each([
  ["a variable", "Set `MINT_PORT_RETRIES` to change it.", ["MINT_PORT_RETRIES"]],
  ["a variable outside of code marks", "Set MINT_PORT_RETRIES to change it.", ["MINT_PORT_RETRIES"]],
  ["a flag", "Pass `--verbose-log` for more.", ["--verbose-log"]],
  ["a flag in a sample", "```sh\nmint dev --turbo\n```", ["--turbo"]],
  ["a version", "Since version 4.7.1.", ["4.7.1"]],
  ["an address", "It listens on `0.0.0.0`.", ["0.0.0.0"]],
  ["a URL", "See https://status.mint.test/live.", ["https://status.mint.test/live"]],
  ["a path", "It is stored in `/etc/mint/settings.toml`.", ["(/etc/mint/settings.toml)"]],
  ["a time", "It waits for 30 s.", ["(30 s)"]],
  ["a name in a table", "| `fooBar` | none |", ["fooBar"]],
  ["a name in HTML's code marks", "Set <code>fooBar</code>.", ["fooBar"]],
  ["a unit without a space", "It waits 750ms and keeps 48kB, or `20s`.", ["(20s)", "(750ms)", "(48kB)"]],
  ["another day", "It changed on 2026-03-14.", ["(2026-03-14)"], { asked: ["2026-03-13", "2026", "14"] }],
  ["the end of a long line", `${"x ".repeat(2_500)}It takes --turbo.`, ["--turbo"]],
] as const)("finds %s that nothing witnesses", async (_, text, facts, given: Partial<Evidence> = {}) => {
  expect((await unsupported(text, given)).toSorted()).toEqual(facts.toSorted());
});

test.each([
  ["what the code says", "`host` is `127.0.0.1`; `maxRetries` is 3."],
  ["a unit that is written otherwise", "It waits 90 seconds, or 1.5 minutes, with a cache of 64 MiB."],
  ["a unit in other words", "It waits 30 min, or 1800 s.", { asked: ["It waits half an hour: 30 minutes."] }],
  ["a negative number that code has", "It is `-3` or -3."],
  ["a name in another spelling", "Use `--max-retries` or `MAX_RETRIES`."],
  ["what was asked for", "Say `--turbo`.", { asked: ["Mention `--turbo`"] }],
  ["what the page said before", "As said, `mint dev` starts it."],
  ["numbered items and steps", "1. Start it.\n2. Open step 3."],
  ["a link inside the site", "See [the limits](/guides/limits-2#max-400)."],
  ["values of samples", '```json\n{ "name": "My site 42" }\n```'],
  ["grammar", "There are 2 ways, and 1 is better."],
] as const)("takes %s for supported", async (_, text, given: Partial<Evidence> = {}) => {
  expect(await unsupported(text, given)).toEqual([]);
});

const options = code.split("\n");

test("where a sentence has a source, the cited lines must have its values, with their units and names", async () => {
  const cite = (supports: string, text = code) => [{ at: "src/options.ts:2", supports, text }];
  const text = "It listens on `0.0.0.0` by default. It retries 3 times.";
  const log = [{ kind: "read" as const, text: `${code}\nhost 0.0.0.0 is for containers` }];
  expect(await unsupported(text, { log, sources: cite("listens on 0.0.0.0", options[1]) })).toEqual(["0.0.0.0"]);
  expect(await unsupported(text, { log })).toEqual([]);
  const swapped = "`maxRetries` is 90_000 and `timeoutMs` is 3.";
  expect(await unsupported(swapped, { sources: cite(swapped) })).toEqual(["90_000", "3"]);
  const right = "`maxRetries` is 3 and `timeoutMs` is 90_000.";
  expect(await unsupported(right, { sources: cite(right) })).toEqual([]);
  const minutes = "It waits 90,000 minutes.";
  expect(await unsupported(minutes, { sources: cite(minutes) })).toEqual(["90,000"]);
  const sizes = cite("It takes 50 MB", "// 50kb");
  expect(await unsupported("It takes 50 MB.", { sources: sizes })).toEqual(["50 MB"]);
});

test("a number without a unit in its line witnesses no unit", async () => {
  expect(await unsupported("It waits 3 s.")).toEqual(["(3 s)"]);
  const log = [{ kind: "read" as const, text: "wait = 3.0  # seconds" }];
  expect(await unsupported("It waits 3 s.", { log })).toEqual([]);
});

test("what everybody knows, names of the sample itself and what the repository has are no errors", async () => {
  expect(await unsupported("Keep `node_modules` out of the image with a `Dockerfile`.")).toEqual([
    "(node_modules)",
    "(Dockerfile)",
  ]);
  const sample = "```python\ndef read_limit(): ...\n```\n\nCall `read_limit`.";
  expect(await unsupported(sample)).toEqual([]);
  const page = { path: "a.md", before: "", after: "Set `compilerOptions`." };
  const added = [{ path: "a.md", line: 1, text: page.after }];
  const evidence = { asked: [], log: [], sources: [] };
  const severities = async (isThere: boolean) =>
    (await findCandidates({ pages: [page], added, holds: async () => isThere }, evidence)).map(
      ({ severity }) => severity,
    );
  expect(await severities(true)).toEqual(["info"]);
  expect(await severities(false)).toEqual(["error"]);
});

test("what the agent wrote and then read again witnesses nothing", async () => {
  const text = "Pass `--ports`.";
  const log = [
    { kind: "read" as const, text: code },
    { kind: "wrote" as const, text },
    { kind: "read" as const, text: `a.md\n4: ${text}` },
  ];
  expect(await unsupported(text, { log })).toEqual(["--ports"]);
});

test("of an earlier round's lines those count that the agent wrote, not those of people", async () => {
  const [before, after] = ["# Options\n", "# Options\n\nTry --ports.\n\nUse --parts.\n\nNew.\n"];
  const added = after.split("\n").map((text, index) => ({ path: "a.md", line: index + 1, text }));
  const log = [{ kind: "wrote" as const, text: "Try --ports." }];
  const latest = added.filter(({ text }) => text === "New.");
  const found = await findCandidates(
    { pages: [{ path: "a.md", before, after }], added, latest },
    { asked: ["Say more"], log, sources: [] },
  );
  expect(found.map(({ line }) => line)).toEqual([3]);
});

test("a summary names nothing that nobody read", async () => {
  const said = (summary: string) =>
    unsupported("See [c](guides/c.md).", { summary, sources: [{ at: "docs/cited.md:3", supports: "", text: "" }] });
  expect(await said("Updated a.md. It links to guides/c.md and agrees with docs/cited.md.")).toEqual([]);
  const found = ["--turbo", "9.8.7", "MINT_RETRIES", "(45 s)"];
  expect(await said("Sets `--turbo`, 9.8.7, `MINT_RETRIES` and 45 s.")).toEqual(expect.arrayContaining(found));
  expect(await said("Explains `maxRetries` and 90 seconds in 14 places of a.md, and runs `check`.")).toEqual([]);
});

const page = `# Settings

Intro to the settings.

## Env

${"A line about the environment.\n".repeat(1)}
Variables are read once.
They are checked at start.

\`\`\`sh
export MINT_HOME=/srv
mint dev
\`\`\`

## Options

Options win over variables.
The last one counts.
`;

const lost = (after: string | null, asked: string, summary = "") =>
  findLostContent([{ path: "settings.md", before: page, after }], [asked], summary).map(({ message }) =>
    message.replace(/ \(\d+ → \d+ lines\), which the request does not name$/, ""),
  );

test("finds a section, a sample and lines that are gone unasked, in any language", () => {
  const withoutEnv = page.replace(/## Env[\s\S]*(?=## Options)/, "");
  for (const asked of ["Fix the grammar of settings", "Corrige la gramática de settings", "Remove typos"]) {
    expect(lost(withoutEnv, asked)).toEqual(["the page loses “Env”"]);
  }
  expect(lost(page.replace(/```sh[\s\S]*?```\n/, ""), "Fix grammar")).toEqual(["the page loses a code block"]);
  expect(lost(null, "Fix grammar")).toEqual(["this page was deleted, and the request does not name it"]);
  expect(lost(withoutEnv, "Remove the section Env")).toEqual([]);
  expect(lost(withoutEnv, "Quita la sección Env")).toEqual([]);
  expect(lost(null, "Lösche settings.md")).toEqual([]);
});

test("a loss is told where the request names the page, and the summary what goes and the figures", () => {
  const withoutEnv = page.replace(/## Env[\s\S]*(?=## Options)/, "");
  const [message = ""] = findLostContent([{ path: "settings.md", before: page, after: withoutEnv }], ["x"]).map(
    (one) => one.message,
  );
  const figures = /\((\d+ → \d+ lines)\)/.exec(message)?.[1];
  expect(figures).toBe("20 → 8 lines");
  const told = `Shortens the page (${figures}).`;
  expect(lost(withoutEnv, "Shorten the settings page", told)).toEqual([]);
  expect(lost(withoutEnv, "Shorten the settings page", "Fixes grammar.")).toHaveLength(1);
  expect(lost(withoutEnv, "Shorten another page", told)).toHaveLength(1);
});

test("an edit, a rename and a move lose nothing", () => {
  expect(lost(page.replace("Variables are read once.", "Emend reads variables once."), "Fix grammar")).toEqual([]);
  expect(lost(page.replace("## Env", "## Environment variables"), "Better headings")).toEqual([]);
  expect(lost(page.replace("mint dev", "mint dev --port 3000"), "Fix the sample")).toEqual([]);
  const moved = [
    { path: "settings.md", before: page, after: page.replace(/## Env[\s\S]*(?=## Options)/, "") },
    { path: "env.md", before: "", after: /## Env[\s\S]*(?=## Options)/.exec(page)?.[0] ?? "" },
  ];
  expect(findLostContent(moved, ["Fix grammar"])).toEqual([]);
  const titled = moved.map((one) => ({ ...one, after: one.after.replace("## Env\n", "---\ntitle: Env\n---\n") }));
  expect(findLostContent(titled, ["Fix grammar"])).toEqual([]);
});

test("a page of prose that is cut by more than a quarter", () => {
  const before = Array.from({ length: 40 }, (_, index) => `Sentence number ${index} says something.`).join("\n");
  const after = before.split("\n").slice(0, 28).join("\n");
  const found = findLostContent([{ path: "a.md", before, after }], ["Fix grammar"]);
  expect(found.map(({ message }) => message)).toEqual([
    "the page loses 12 of its 40 lines of text (40 → 28 lines), which the request does not name",
  ]);
});
