import { expect, test } from "vitest";
import { pageBlocks } from "../drift/page-blocks.ts";
import { compareFacts } from "./compare-facts.ts";
import { createFactReader } from "./read-facts.ts";

const read = createFactReader();

/** What a change of one file makes stale on one page. */
async function compare(path: string, before: string, after: string, page: string) {
  const change = { path, before: await read(path, before), after: await read(path, after) };
  return compareFacts([change], pageBlocks("page.md", page));
}

const flag = (name: string, value: string) => `p.add_argument("--${name}", default="${value}")\n`;

test("a changed default counts where the page shows the old one beside the name", async () => {
  const [before, after] = [flag("retry-limit", "3"), flag("retry-limit", "5")];
  const page = "# Flags\n\nUse `--retry-limit` (default: 3).\n";
  expect(await compare("cli.py", before, after, page)).toMatchObject([
    {
      kind: "changed",
      part: "default",
      name: "--retry-limit",
      was: "3",
      now: "5",
      pageLine: 3,
      line: 1,
      code: { was: before.trim(), now: after.trim() },
    },
  ]);
  for (const other of [
    "Use `--retry-limit` to try again. There are 3 pages.\n".replace("There", "\n\nThere"),
    "The default of `--retry-limit` is 5 instead of 3.\n",
    "Retries: the default is 3.\n",
  ])
    expect(await compare("cli.py", before, after, other)).toEqual([]);
});

test("a changed default counts in a table, and below a heading of that name", async () => {
  const [before, after] = ["class S:\n    retry_limit: int = 3", "class S:\n    retry_limit: int = 5"];
  for (const page of [
    "| name | default |\n| --- | --- |\n| `retry_limit` | `3` |\n",
    "## `retry_limit`\n\nHow often. Default: `3`\n",
    "```yaml\nretry_limit: 3\n```\n",
  ])
    expect(await compare("s.py", before, after, page)).toMatchObject([{ kind: "changed", name: "retry_limit" }]);
});

test("a plain word counts only on a page that names its siblings", async () => {
  const code = (port: number) =>
    `class Server:\n    port: int = ${port}\n    bind_address = ""\n    base_url = ""\n    ssl_key = ""`;
  const line = "The default of `port` is 8000.\n";
  expect(await compare("s.py", code(8000), code(9000), line)).toEqual([]);
  const about = `${line}\nAlso \`bind_address\`, \`base_url\` and \`ssl_key\`.\n`;
  expect(await compare("s.py", code(8000), code(9000), about)).toMatchObject([{ name: "port", was: "8000" }]);
});

test("choices that come and go count where the page lists the others", async () => {
  const mode = (...choices: string[]) => `p.add_argument("--mode-name", choices=${JSON.stringify(choices)})`;
  const page = "`--mode-name` is `fast`, `safe` or `slow`.\n";
  const three = mode("fast", "safe", "slow");
  expect(await compare("c.py", three, mode("fast", "safe"), page)).toMatchObject([{ part: "choices", was: "slow" }]);
  expect(await compare("c.py", three, mode("fast", "safe", "slow", "lazy"), page)).toMatchObject([
    { part: "choices", now: "lazy" },
  ]);
  expect(await compare("c.py", three, mode("fast", "safe", "slow", "lazy"), "Use `--mode-name`.\n")).toEqual([]);
});

test("a changed type, and whether a member is required, count beside its name", async () => {
  const member = (mark: string, type: string) => `interface O {\n  retryLimit${mark}: ${type};\n}`;
  const page = "- `retryLimit` (optional, `number`): how often.\n";
  expect(await compare("o.ts", member("?", "number"), member("?", "string"), page)).toMatchObject([
    { part: "type", was: "number", now: "string" },
  ]);
  expect(await compare("o.ts", member("?", "number"), member("", "number"), page)).toMatchObject([
    { part: "required", was: "optional", now: "required" },
  ]);
});

const listed = ["--out-file", "--log-level", "--dry-run"];
const flags = (names: readonly string[]) => names.map((name) => flag(name.slice(2), "x")).join("");
const table = `| flag |\n| --- |\n${listed.map((name) => `| \`${name}\` |\n`).join("")}`;

test("a new member counts where three of its siblings are on one page, and no page names it", async () => {
  expect(await compare("c.py", flags(listed), flags([...listed, "--color"]), table)).toMatchObject([
    { kind: "new", name: "--color", pageLine: 5, code: { was: "", now: expect.stringContaining("--color") } },
  ]);
  expect(await compare("c.py", flags(listed), flags([...listed, "--color"]), `${table}| \`--color\` |\n`)).toEqual([]);
  const two = listed.slice(0, 2);
  expect(await compare("c.py", flags(two), flags([...two, "--color"]), table)).toEqual([]);
});

test("a definition that is gone counts, even if the word is elsewhere in the file's text", async () => {
  const all = [...listed, "--color"];
  const after = `${flags(listed)}# --color was here\n`;
  expect(await compare("c.py", flags(all), after, `${table}| \`--color\` |\n`)).toMatchObject([
    { kind: "removed", name: "--color", pageLine: 6, code: { now: null } },
  ]);
  // It moved to another call.
  expect(await compare("c.py", flags(all), flags([...all].reverse()), `${table}| \`--color\` |\n`)).toEqual([]);
});
