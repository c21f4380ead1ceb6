import type { Evidence } from "@emend/base/evidence.ts";
import { expect, test } from "vitest";
import { findLostContent } from "./lost-content.ts";
import { findUnsupportedFacts } from "./unsupported-facts.ts";
import { findUntrueSummary } from "./untrue-summary.ts";
import { createWitness } from "./witness.ts";

const code = `export const options = {
  host: { type: "string", default: "127.0.0.1" },
  maxRetries: { type: "number", default: 3 },
  timeoutMs: { type: "number", default: 90_000 },
  cacheBytes: { type: "number", default: 64 * 1024 * 1024 },
};
server.listen(options.port);
`;

/** The findings for a page that gains these lines after `code` was read. */
function unsupported(text: string, given: Partial<Evidence> & { before?: string } = {}): readonly string[] {
  const { before = "# Options\n\nStart it with `mint dev`.\n", ...evidence } = given;
  const after = `${before}${text}`;
  const first = before.split("\n").length;
  const added = text.split("\n").map((line, index) => ({ path: "a.md", line: first + index, text: line }));
  const log = [
    { kind: "read" as const, text: code },
    { kind: "wrote" as const, text },
  ];
  const all = { asked: ["Document the options"], log, sources: [], ...evidence };
  return findUnsupportedFacts([{ path: "a.md", before, after }], added, { ...all, log: all.log ?? log }).map(
    ({ message }) => /`([^`]+)`/.exec(message)?.[1] ?? message,
  );
}

test.each([
  ["a variable", "Set `MINT_PORT_RETRIES` to change it.", ["MINT_PORT_RETRIES"]],
  ["a variable outside of code marks", "Set MINT_PORT_RETRIES to change it.", ["MINT_PORT_RETRIES"]],
  ["numbers with what they count", "It tries 10 ports, then ends with exit code 98.", ["10", "98"]],
  ["a flag", "Pass `--verbose-log` for more.", ["--verbose-log"]],
  ["a flag in a sample", "```sh\nmint dev --turbo\n```", ["--turbo"]],
  ["a version", "Since version 4.7.1.", ["4.7.1"]],
  ["an address", "It listens on `0.0.0.0`.", ["0.0.0.0"]],
  ["a URL", "See https://status.mint.test/live.", ["https://status.mint.test/live"]],
  ["a path", "It is stored in `/etc/mint/settings.toml`.", ["/etc/mint/settings.toml"]],
  ["a time", "It waits for 30 s.", ["30 s"]],
  ["a name in a table", "| `fooBar` | none |", ["fooBar"]],
  ["a name in HTML's code marks", "Set <code>fooBar</code>.", ["fooBar"]],
  ["a unit without a space", "It waits 750ms and keeps 48kB, or `20s`.", ["20s", "750ms", "48kB"]],
  ["a price, a sign and a range", "It costs $49, ends with -77 and takes 5-80 tries.", ["49", "77", "5", "80"]],
  ["another unit", "Sessions end after 45 hours.", ["45"], { asked: ["Sessions end after 45 minutes."] }],
  ["an hour that only a 1 could mean", "It is kept for 24 hours.", ["24"], { asked: ["There is 1 way."] }],
  ["another day", "It changed on 2026-03-14.", ["2026-03-14"], { asked: ["2026-03-13", "2026", "14"] }],
  ["digits of another form", "It has &#57;&#56; parts, or ７７.", ["98", "77"]],
  ["a component's words", '<Tip text="It has 98 parts" cols="7" default="42" />', ["98", "42"]],
  ["a link's title", 'See [it](/a "98 parts").', ["98"]],
  ["the end of a long line", `${"x ".repeat(2_500)}It has 98 parts.`, ["98"]],
] as const)("finds %s that nothing witnesses", (_, text, facts, given: Partial<Evidence> = {}) => {
  expect(unsupported(text, given)).toEqual(facts);
});

test.each([
  ["what the code says", "`host` is `127.0.0.1`; `maxRetries` is 3."],
  ["a unit that is written otherwise", "It waits 90 seconds, or 1.5 minutes, with a cache of 64 MiB."],
  ["a unit in other words", "It waits 30 min, or 1800 s.", { asked: ["It waits half an hour: 30 minutes."] }],
  ["a negative number that code has", "It is `-3` or -3."],
  ["a name in another spelling", "Use `--max-retries` or `MAX_RETRIES`."],
  ["what was asked for", "Say `--turbo`.", { asked: ["Mention `--turbo`"] }],
  ["what the page said before", "As said, `mint dev` starts it."],
  ["how many rows follow", "These 4 options exist:\n\n- `host`\n- `maxRetries`\n- `timeoutMs`\n- `cacheBytes`"],
  ["numbered items and steps", "1. Start it.\n2. Open step 3."],
  ["a link inside the site", "See [the limits](/guides/limits-2#max-400)."],
  ["values of samples", '```json\n{ "name": "My site 42" }\n```'],
  ["grammar", "There are 2 ways, and 1 is better."],
] as const)("takes %s for supported", (_, text, given: Partial<Evidence> = {}) => {
  expect(unsupported(text, given)).toEqual([]);
});

test("where a sentence has a source, the cited lines must have its values", () => {
  const text = "It listens on `0.0.0.0` by default. It retries 3 times.";
  const log = [{ kind: "read" as const, text: `${code}\nhost 0.0.0.0 is for containers` }];
  const cited = { at: "src/options.ts:2", supports: "listens on 0.0.0.0", text: code.split("\n")[1] ?? "" };
  expect(unsupported(text, { log, sources: [cited] })).toEqual(["0.0.0.0"]);
  expect(unsupported(text, { log })).toEqual([]);
  const sum = { at: "x:1", supports: "5 in all", text: "const a = 3, b = 2;" };
  expect(unsupported("There are 5 in all.", { sources: [sum] })).toEqual([]);
});

test("what the agent wrote and then read again witnesses nothing", () => {
  const text = "It tries 98 ports.";
  const log = [
    { kind: "read" as const, text: code },
    { kind: "wrote" as const, text },
    { kind: "read" as const, text: `a.md\n4: ${text}` },
  ];
  expect(unsupported(text, { log })).toEqual(["98"]);
});

test("of an earlier round's lines those count that the agent wrote, not those of people", () => {
  const [before, after] = ["# Options\n", "# Options\n\nIt tries 98 ports.\n\nIt has 77 parts.\n\nNew.\n"];
  const added = after.split("\n").map((text, index) => ({ path: "a.md", line: index + 1, text }));
  const log = [{ kind: "wrote" as const, text: "It tries 98 ports." }];
  const found = findUnsupportedFacts(
    [{ path: "a.md", before, after }],
    added,
    { asked: ["Say more"], log, sources: [] },
    added.filter(({ text }) => text === "New."),
  );
  expect(found.map(({ line }) => line)).toEqual([3]);
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
  const told = `Shortens the page (${figures}); the section Env is gone.`;
  expect(lost(withoutEnv, "Shorten the settings page", told)).toEqual([]);
  expect(lost(withoutEnv, "Shorten the settings page", "Fixes grammar.")).toHaveLength(1);
  expect(lost(withoutEnv, "Shorten the settings page", `Fixes grammar, ${figures}.`)).toHaveLength(1);
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

test("a summary names no page that the change has nothing to do with", () => {
  const sources = [{ at: "docs/cited.md:3", supports: "", text: "" }];
  const change = { paths: ["docs/a.md"], lines: ["See [c](guides/c.md)."], sources };
  const messages = (summary: string) => findUntrueSummary(summary, change).map(({ message }) => message);
  expect(messages("Adds a note to `docs/b.md`.")).toHaveLength(1);
  expect(messages("Añade una nota a docs/b.md y docs/a.md.")).toHaveLength(1);
  expect(messages("Updated a.md. It links to guides/c.md and agrees with docs/cited.md.")).toEqual([]);
});

test("a summary says no name and no value that is neither on a page nor in what was read", () => {
  const change = { paths: ["a.md"], lines: [], sources: [], witness: createWitness([code, "a.md", "waits 30 s"]) };
  const messages = (summary: string) => findUntrueSummary(summary, change).map(({ message }) => message);
  expect(messages("Sets `MINT_RETRIES`, `--turbo` and a limit of 45 s, tested with 9.8.7.")).toHaveLength(4);
  expect(messages("Explains `maxRetries` and 30 seconds in 14 places of a.md, and runs `check`.")).toEqual([]);
  const { witness, ...unknown } = change;
  expect(witness && findUntrueSummary("Sets `MINT_RETRIES`.", unknown)).toEqual([]);
});
