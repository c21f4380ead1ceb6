import { expect, test } from "vitest";
import { readFacts } from "./read-facts.ts";

const read = readFacts;

// First here, while no grammar is loaded.
test("files of several languages that are the first ones, at once, are read", async () => {
  const files = {
    "a.py": "LIMIT = 3\n",
    "a.go": "package a\n\nconst Limit = 3\n",
    "a.ts": "export const limit = 3;\n",
  };
  const found = await Promise.all(Object.entries(files).map(([path, text]) => read(path, text)));
  expect(found.map((facts) => facts.length)).toEqual([1, 1, 1]);
});

test.each<[library: string, path: string, text: string, fact: object]>([
  [
    "argparse",
    "cli.py",
    'p.add_argument("-m", "--mode", default="fast", choices=["fast", "safe"], required=True)',
    { container: "flags", name: "--mode", default: "fast", choices: ["fast", "safe"], required: true },
  ],
  [
    "click",
    "cli.py",
    '@click.option("--mode", type=click.Choice(["fast", "safe"]), default="fast")\ndef run(mode): ...',
    { name: "--mode", default: "fast", choices: ["fast", "safe"] },
  ],
  [
    "a table of flags",
    "c.js",
    'export const options = [{ flag: "--depth", value: "N", default: 3 }];',
    { container: "flags", name: "--depth", default: "3" },
  ],
  ["flags as keys", "c.js", 'arg({ "--depth": Number });', { container: "flags", name: "--depth" }],
  [
    "pydantic",
    "s.py",
    "class Settings(BaseModel):\n    retries: int = Field(3, ge=0)",
    { container: "Settings", name: "retries", default: "3", type: "int" },
  ],
  [
    "dataclasses",
    "s.py",
    "class S:\n    retries: int = field(default=3)",
    { container: "S", name: "retries", default: "3" },
  ],
  [
    "traitlets",
    "s.py",
    "class S:\n    port = Integer(8000).tag(config=True)",
    { container: "S", name: "port", default: "8000" },
  ],
  ["a Python function", "s.py", "def open(path, retries=3): ...", { container: "open", name: "retries", default: "3" }],
  [
    "pflag",
    "c.go",
    'package c\nfunc f() { fs.StringVarP(&out, "out-file", "o", "a.txt", "where") }',
    { container: "flags", name: "--out-file", default: "a.txt" },
  ],
  [
    "flag",
    "c.go",
    'package c\nvar t = flag.Duration("timeout", 30*time.Second, "how long")',
    { name: "--timeout", default: "30s" },
  ],
  [
    "urfave/cli",
    "c.go",
    'package c\nvar f = &cli.StringFlag{Name: "out-file", Value: "a.txt"}',
    { name: "--out-file", default: "a.txt" },
  ],
  [
    "Go struct tags",
    "c.go",
    'package c\ntype Config struct {\n\tRetries int `yaml:"retry_limit" default:"3"`\n}',
    { container: "Config", name: "retry_limit", default: "3", type: "int" },
  ],
  [
    "a Go default",
    "c.go",
    'package c\ntype Args struct {\n\tLimit int `json:"retry_limit"`\n}\nvar DefaultArgs = Args{Limit: 5}',
    { container: "Args", name: "retry_limit", default: "5" },
  ],
  [
    "clap's derive",
    "c.rs",
    "struct Cli {\n    #[arg(long, default_value_t = 3)]\n    retry_limit: u32,\n}",
    { container: "flags", name: "--retry-limit", default: "3", type: "u32" },
  ],
  [
    "clap's builder",
    "c.rs",
    'fn f() { Arg::new("o").long("out-file").required(true).default_value("a.txt"); }',
    { name: "--out-file", default: "a.txt" },
  ],
  [
    "serde",
    "c.rs",
    'struct Config {\n    #[serde(rename = "retry-limit")]\n    retries: u32,\n}',
    { container: "Config", name: "retry-limit" },
  ],
  [
    "commander",
    "c.ts",
    'program.option("-o, --out-file <path>", "where", "a.txt");',
    { container: "flags", name: "--out-file", default: "a.txt" },
  ],
  [
    "yargs",
    "c.js",
    'yargs.option("retry-limit", { type: "number", default: 3 });',
    { name: "retry-limit", default: "3" },
  ],
  [
    "zod",
    "c.ts",
    "const Settings = z.object({ mode: z.enum(['fast', 'safe']).default('fast') });",
    { container: "Settings", name: "mode", default: "fast", choices: ["fast", "safe"] },
  ],
  [
    "a TypeScript interface",
    "c.ts",
    'export interface Options {\n  /** How often.\n   * @default 3 */\n  retries?: number;\n  mode: "fast" | "safe";\n}',
    { container: "Options", name: "mode", choices: ["fast", "safe"], required: true },
  ],
  [
    "its comment",
    "c.tsx",
    "interface Options {\n  /** @default 3 */\n  retries?: number;\n}",
    { name: "retries", default: "3", required: false },
  ],
  [
    "an object of defaults",
    "c.mjs",
    "export const defaults = { retryLimit: 3 };",
    { container: "defaults", name: "retryLimit", default: "3" },
  ],
  ["YAML", "values.yaml", "image:\n  tag: v1\n", { container: "image", name: "tag", default: "v1", line: 2 }],
  ["TOML", "default.toml", "[net]\nretry-limit = 3\n", { container: "net", name: "retry-limit", default: "3" }],
  [
    "JSON Schema",
    "schema.json",
    '{"properties": {"mode": {"type": "string", "enum": ["fast", "safe"], "default": "fast"}}}',
    { container: "properties", name: "mode", default: "fast", choices: ["fast", "safe"], type: "string" },
  ],
  [
    "typer",
    "cli.py",
    'def main(mode: str = typer.Option("fast", "--mode", help="How")): ...',
    { container: "flags", name: "--mode", default: "fast" },
  ],
  [
    "Cobra",
    "c.go",
    'package c\nfunc f() { cmd.Flags().IntVar(&n, "retry-limit", 3, "how often") }',
    { container: "flags", name: "--retry-limit", default: "3" },
  ],
  [
    "a sample of variables",
    ".env.example",
    '# How often\nAPP_RETRIES=3\nAPP_MODE="fast" # or safe\n',
    { container: "variables", name: "APP_MODE", default: "fast", line: 3 },
  ],
  ["a variable that is off", "deploy/sample.env", "#APP_RETRIES=3\n", { name: "APP_RETRIES", default: "3" }],
  [
    "OpenAPI",
    "openapi.yaml",
    "paths:\n  /jobs:\n    get:\n      parameters:\n        - { name: page_size, in: query, required: true, schema: { type: integer, default: 20 } }\n",
    { container: "paths./jobs.get.parameters", name: "page_size", default: "20", type: "integer", required: true },
  ],
  [
    "what a JSON Schema requires",
    "schema.json",
    '{"required": ["mode"], "properties": {"mode": {"type": "string", "deprecated": true}, "size": {"type": "number"}}}',
    { container: "properties", name: "mode", required: true, deprecated: true },
  ],
])("reads what %s says", async (_library, path, text, fact) => {
  expect(await read(path, text)).toContainEqual(expect.objectContaining(fact));
});

test.each<[string, string, string, object]>([
  [
    "a comment",
    "c.ts",
    "interface O {\n  /** @deprecated use b\n   * @since 2.1 */\n  retryLimit?: number;\n}",
    { since: "2.1" },
  ],
  ["argparse", "c.py", 'p.add_argument("--dry-run", deprecated=True)', {}],
  [
    "an attribute of Rust",
    "c.rs",
    'struct C {\n    #[deprecated(since = "1.4")]\n    #[arg(long)]\n    dry_run: bool,\n}',
    { since: "1.4" },
  ],
  ["Go's comment", "c.go", 'package c\ntype C struct {\n\t// Deprecated: use B.\n\tA int `json:"dry_run"`\n}', {}],
  [
    "pflag",
    "c.go",
    'package c\nfunc f() { fs.Bool("dry-run", false, ""); fs.MarkDeprecated("dry-run", "no") }',
    { default: "false" },
  ],
  ["yargs", "c.js", 'yargs.option("dry-run", { type: "boolean", deprecated: true });', {}],
  ["a sample of variables", ".env.sample", "# Deprecated\nDRY_RUN=1\n", { default: "1" }],
])("reads in %s that something is deprecated", async (_, path, text, more) => {
  expect(await read(path, text)).toContainEqual(expect.objectContaining({ deprecated: true, ...more }));
});

test("does not take an option for deprecated because one inside of it is", async () => {
  const text = 'const o = { outer: { type: "object", inner: { type: "number", deprecated: true } } };';
  const facts = await read("c.js", text);
  expect(facts.find(({ name }) => name === "outer")).not.toHaveProperty("deprecated");
});

test.each<[string, string, string, object]>([
  [
    "a Python function",
    "a.py",
    "def open_door(path, retries=3, *, force): ...",
    {
      name: "open_door",
      signature: {
        parameters: [
          { name: "path", required: true },
          { name: "retries", required: false },
          { name: "force", required: true, isByNameOnly: true },
        ],
        isQualified: true,
      },
    },
  ],
  [
    "a Python class",
    "a.py",
    "class Door:\n    def __init__(self, path: str, **options): ...",
    {
      container: "",
      name: "Door",
      signature: { parameters: [{ name: "path", required: true }], otherNames: true, isQualified: true },
    },
  ],
  [
    "a TypeScript function",
    "a.ts",
    "export function openDoor(path: string, retries = 3, force?: boolean, ...more: string[]) {}",
    {
      name: "openDoor",
      signature: {
        parameters: [
          { name: "path", required: true },
          { name: "retries", required: false },
          { name: "force", required: false },
        ],
        rest: true,
      },
    },
  ],
  [
    "an arrow function",
    "a.js",
    "export const openDoor = (path, retries = 3) => 1;",
    {
      name: "openDoor",
      signature: {
        parameters: [
          { name: "path", required: true },
          { name: "retries", required: false },
        ],
      },
    },
  ],
  [
    "a Go function",
    "a.go",
    "package a\nfunc OpenDoor(path, mode string, more ...int) {}",
    {
      name: "OpenDoor",
      signature: {
        parameters: [
          { name: "path", required: true },
          { name: "mode", required: true },
        ],
        rest: true,
        isQualified: true,
      },
    },
  ],
  [
    "a Rust function",
    "a.rs",
    "impl Door { pub fn open_door(&self, path: &str) {} }",
    { name: "open_door", signature: { parameters: [{ name: "path", required: true }] } },
  ],
])("reads the signature of %s", async (_, path, text, fact) => {
  expect(await read(path, text)).toContainEqual(expect.objectContaining(fact));
});

test("keeps the code of the line", async () => {
  expect(await read("a.py", "X = 1\nlimit_max = 3\n")).toContainEqual(
    expect.objectContaining({ line: 2, text: "limit_max = 3" }),
  );
});

test("ends on deep, broken and unknown files", async () => {
  const deep = `x = ${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  for (const path of ["a.py", "a.ts", "a.rs", "a.go", "a.yaml", "a.json", "a.toml"])
    await expect(read(path, deep)).resolves.toBeInstanceOf(Array);
  expect(await read("a.toml", "= broken")).toEqual([]);
  expect(await read("a.cobol", "X = 1")).toEqual([]);
});
