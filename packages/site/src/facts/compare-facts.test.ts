import { expect, test } from "vitest";
import { pageBlocks } from "../drift/page-blocks.ts";
import { compareFacts } from "./compare-facts.ts";
import { readFacts } from "./read-facts.ts";

const read = readFacts;

/** What a change of one file makes stale on one page. */
async function compare(path: string, before: string, after: string, page: string) {
  const texts = { was: before, now: after };
  const change = { path, before: await read(path, before), after: await read(path, after), texts };
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

test("what a changed signature no longer takes counts in samples that fitted before", async () => {
  const door = (parameters: string) => `def open_door(${parameters}): ...\n`;
  const page = (call: string) => `\`\`\`python\nx = ${call}\n\`\`\`\n`;
  const both = [door("path, mode='r'"), door("path")] as const;
  expect(await compare("a.py", ...both, page("open_door('a(', mode='w')"))).toMatchObject([
    { part: "signature", now: "it has no parameter `mode`", pageLine: 2 },
  ]);
  expect(await compare("a.py", ...both, page("open_door('a', 'w')"))).toMatchObject([
    { now: "it takes at most 1 arguments" },
  ]);
  expect(await compare("a.py", door("path"), door("path, mode"), page("open_door(f(1, 2))"))).toMatchObject([
    { now: "it needs `mode`" },
  ]);
  for (const call of [
    "open_door('a')",
    "open_door(...)",
    "open_door(*all, mode=1)",
    "open_door('a', other=1)",
    "open_door('a', mode=",
  ])
    expect(await compare("a.py", ...both, page(call))).toEqual([]);
  expect(await compare("a.py", ...both, page("reopen_door('a', mode=1)"))).toEqual([]);
  expect(await compare("a.py", ...both, page("doors.open_door('a', mode=1)"))).toHaveLength(1);
  const script = (parameters: string) => `export function openDoor(${parameters}) {}`;
  const sample = (call: string) => `\`\`\`js\n${call};\n\`\`\`\n`;
  expect(await compare("a.js", script("a"), script("a, b"), sample("openDoor(1)"))).toHaveLength(1);
  expect(await compare("a.js", script("a"), script("a, b"), sample("house.openDoor(1)"))).toEqual([]);
  expect(await compare("a.py", both[0], door("path, **more"), page("open_door('a', mode=1)"))).toEqual([]);
  expect(await compare("a.py", ...both, "```python\ndef open_door(path, mode='r'):\n```\n")).toEqual([]);
});

test("a name that is deprecated now counts once a page, unless the page says so", async () => {
  const both = ['p.add_argument("--dry-run")', 'p.add_argument("--dry-run", deprecated=True)'] as const;
  const page = "Use `--dry-run`.\n\nAgain: `--dry-run`.\n";
  expect(await compare("c.py", ...both, page)).toMatchObject([{ part: "deprecated", pageLine: 1 }]);
  expect(await compare("c.py", ...both, `${page}\n\`--dry-run\` is deprecated.\n`)).toEqual([]);
});

test("a changed release counts beside the name", async () => {
  const member = (since: string) => `interface O {\n  /** @since ${since} */\n  retryLimit?: number;\n}`;
  const page = "| name | since |\n| --- | --- |\n| `retryLimit` | 2.1 |\n";
  expect(await compare("o.ts", member("2.1"), member("2.2"), page)).toMatchObject([
    { part: "since", was: "2.1", now: "2.2" },
  ]);
});

test("the first column of a table names what its row is about", async () => {
  const both = [flag("retry-limit", "3"), flag("retry-limit", "5")] as const;
  const page = "| Flag | Default |\n| --- | --- |\n| [--retry-limit](#x) | 3 |\n";
  expect(await compare("cli.py", ...both, page)).toMatchObject([{ name: "--retry-limit", pageLine: 3 }]);
});

test("a version or an address counts in code without its name, where nothing in the change still has it", async () => {
  const chart = (version: string, more = "") => `appVersion: ${version}\n${more}`;
  const page = "```sh\ncurl https://example.com/tool-v1.7.0/deploy.yaml\n```\n";
  const both = [chart("1.7.0"), chart("1.7.1")] as const;
  expect(await compare("chart.yaml", ...both, page)).toMatchObject([
    { part: "default", was: "1.7.0", now: "1.7.1", isUnnamed: true, pageLine: 2 },
  ]);
  for (const other of [
    "It has 1.7.0 in prose.\n",
    "Since `1.7.0`, it works.\n",
    "`11.7.0` and `1.7.0.1` and `1.7.0-rc.1`\n",
    "```sh\nfrom 1.7.0 to 1.7.1\n```\n",
  ])
    expect(await compare("chart.yaml", ...both, other)).toEqual([]);
  expect(await compare("chart.yaml", ...(both.map((one) => `${one}old: 1.7.0\n`) as [string, string]), page)).toEqual(
    [],
  );
  const path = (folder: string) => `CONFIG = "/etc/${folder}/settings.toml"\n`;
  expect(await compare("a.py", path("old"), path("new"), "It is in `/etc/old/settings.toml`.\n")).toMatchObject([
    { isUnnamed: true },
  ]);
});

test("the version of a dependency is not the program's", async () => {
  const manifest = (table: string, version: string) => `[${table}]\ndoor = "${version}"\n`;
  const page = "Run `get tool@4.0.0`.\n";
  const compared = (table: string) => compare("a.toml", manifest(table, "4.0.0"), manifest(table, "5.0.0"), page);
  expect(await compared("package")).toHaveLength(1);
  expect(await compared("dev-dependencies")).toEqual([]);
});

const item = (name: string, rest: string) => `* **${name}**\n  what it does, in many\n  words. ${rest}\n`;
const setting = (lines: Readonly<Record<string, string>>) =>
  Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join("");

test("an item that begins with a name is about it, up to the next item", async () => {
  const page = item("cpu_limit", "The default is `3`.") + item("memory_limit", "The default is `1`.");
  const before = setting({ cpu_limit: "3", memory_limit: "1" });
  const compared = (now: Readonly<Record<string, string>>, text = page) =>
    compare("a.yaml", before, setting(now), text);
  expect(await compared({ cpu_limit: "4", memory_limit: "1" })).toMatchObject([{ name: "cpu_limit", pageLine: 3 }]);
  expect(await compared({ cpu_limit: "3", memory_limit: "2" })).toMatchObject([{ name: "memory_limit", pageLine: 6 }]);
  const wrapped = "- `cpu_limit`: the limit. The default\n  is 3.\n";
  expect(await compared({ cpu_limit: "4", memory_limit: "1" }, wrapped)).toMatchObject([{ pageLine: 2 }]);
  expect(await compared({ cpu_limit: "1", memory_limit: "1" }, "- `cpu_limit`: at most 3 of them\n")).toEqual([]);
});

test("a list whose items begin with bold names lacks a new one, once for several files", async () => {
  const page = ["cpu_limit", "memory_limit", "disk_limit"].map((name) => item(name, "")).join("");
  const before = setting({ cpu_limit: "1", memory_limit: "1", disk_limit: "1" });
  const after = `${before}pod_limit: 1\n`;
  const texts = { was: before, now: after };
  const change = { before: await read("a.yaml", before), after: await read("a.yaml", after), texts };
  const changes = ["a.yaml", "b.yaml"].map((path) => ({ ...change, path }));
  expect(compareFacts(changes, pageBlocks("page.md", page))).toMatchObject([{ kind: "new", name: "pod_limit" }]);
});

test("an address and what is below it moved, unless the new one begins alike", async () => {
  const site = (address: string) => `site_url: ${address}\n`;
  const page = "See [the list](https://tool.example.org/list/).\n";
  const old = site("https://tool.example.org/");
  expect(await compare("a.yaml", old, site("https://example.org/tool/"), page)).toMatchObject([{ isUnnamed: true }]);
  expect(await compare("a.yaml", old, site("https://tool.example.org/en/"), page)).toEqual([]);
  expect(await compare("a.yaml", site("https://tool.example.or"), site("https://a.example"), page)).toEqual([]);
});

test("a page that repeats five words of the code, and the code no longer has them", async () => {
  const help = (text: string) => `p.add_argument("--all", help="""Show ${text}\n  when it is on.""")\n`;
  const page = "It shows the intermediary requests only,\nand not the last one.\n";
  const was = help("the intermediary requests only");
  const compared = (now: string) => compare("a.py", was, now, page);
  expect(await compared(help("nothing"))).toEqual([]);
  expect(await compared(was)).toEqual([]);
  const longer = "All shows the intermediary requests only, and not the last one.";
  expect(await compare("a.py", help(longer), help("nothing"), page)).toMatchObject([{ part: "text", pageLine: 1 }]);
  const several = [1, 2, 3]
    .map((number) => `${number}. It shows the intermediary requests only, and more.`)
    .join("\n\n");
  expect(await compare("a.py", help(longer), help("nothing"), several)).toEqual([]);
  const common = "This is useful when the door is shut.";
  expect(await compare("a.py", `# ${common}\n`, "#\n", "This is useful when the sun is up.\n")).toEqual([]);
  // It only moved.
  expect(await compare("a.py", help(longer), `# 1\n${help(`  ${longer}`)}`, page)).toEqual([]);
});

test("a member that moved to another file of the change is neither gone nor new", async () => {
  const all = [...listed, "--color"];
  const page = pageBlocks("page.md", `${table}| \`--color\` |\n`);
  const texts = { was: "", now: "" };
  const [before, after] = [await read("a.py", flags(all)), await read("a.py", flags(listed))];
  const change = { path: "a.py", before, after, texts };
  const other = { path: "b.py", before: [], after: await read("b.py", flags(["--color"])), texts };
  expect(compareFacts([change], page)).toHaveLength(1);
  expect(compareFacts([change, other], page)).toEqual([]);
});
