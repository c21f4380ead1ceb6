import { expect, test } from "vitest";
import { createFactReader } from "./read-facts.ts";

const read = createFactReader();

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
])("reads what %s says", async (_library, path, text, fact) => {
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
