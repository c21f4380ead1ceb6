import { expect, test } from "vitest";
import { compare, treeOf } from "../../test/support/sources.ts";
import { plainDialect } from "../parse/dialect.ts";
import { compareReferences } from "./compare-references.ts";
import { findCodeReferences } from "./find-references.ts";
import { indexSource } from "./source-index.ts";

const namesIn = (page: string) =>
  findCodeReferences("page.md", Buffer.from(page), plainDialect).map(
    ({ kind, text, line, column, inSample }) => `${line}:${column} ${kind} ${text}${inSample ? " (sample)" : ""}`,
  );

test("finds names in text, tables and samples, with their places", () => {
  const page = [
    "Call `createApp()` with `--dry-run`, set `EMEND_MODEL` or `server.port`.",
    "",
    "| key | file |",
    "| --- | --- |",
    "| `max-age` | `src/app.ts` |",
    "",
    "Send `GET /v2/jobs/{id}`. Use `@emend/sdk`.",
    "",
    "```bash",
    "$ npm install --save-dev emend && emend check --base main",
    "```",
    "",
    "```ts",
    'import { Emend } from "@emend/sdk";',
    "const myClient = new Emend(); // not oldName",
    "await myClient.listJobs({ pageSize: 1 });",
    "```",
  ].join("\n");
  expect(namesIn(page)).toEqual([
    "1:7 identifier createApp",
    "1:26 flag --dry-run",
    "1:43 env EMEND_MODEL",
    "1:60 path server.port",
    "5:4 config-key max-age",
    "5:16 file src/app.ts",
    "7:7 route GET /v2/jobs/{id}",
    "7:32 package @emend/sdk",
    "10:47 flag --base (sample)",
    "14:10 identifier Emend (sample)",
    "14:24 package @emend/sdk (sample)",
    "16:16 identifier listJobs (sample)",
    "16:27 identifier pageSize (sample)",
  ]);
});

test("reports what was known and is not, and nothing that was never known", async () => {
  const before = { "src/a.ts": "export function listJobs() {}\nexport function stay() {}\n" };
  const page = "`listJobs()`, `stay()`, `neverThere()`";
  expect(await compare(before, { "src/a.ts": "export function stay() {}\n" }, page)).toEqual(["listJobs removed"]);
});

test("a name that stands anywhere in the sources is not stale", async () => {
  const before = { "src/a.ts": "export function listJobs() {}\n" };
  expect(await compare(before, { "src/b.ts": "client.listJobs();\n" }, "`listJobs`")).toEqual([]);
});

test("a name that only tests or other people's code use is not the sources' own", async () => {
  const before = { "src/a.ts": "useTheirs(1);\n", "test/a.test.ts": "const ofTest = 1;\n" };
  expect(await compare(before, { "src/a.ts": "\n" }, "`useTheirs` and `ofTest`")).toEqual([]);
});

test("a flag is there as long as a program defines it, with or without its dashes", async () => {
  const flags = 'flags.Bool("auto-prune", false);\n';
  const before = { "cmd/app.go": `${flags}fail("use --auto-prune");\n` };
  expect(await compare(before, { "cmd/app.go": flags }, "`--auto-prune`")).toEqual([]);
  expect(await compare(before, { "cmd/app.go": "\n" }, "`--auto-prune`")).toEqual(["--auto-prune removed"]);
  const elsewhere = { "cmd/app.go": "\n", "cmd/flags.go": flags };
  expect(await compare(before, elsewhere, "`--auto-prune`")).toEqual([]);
});

test("a script that completes commands is no program: it may list a flag that is gone", async () => {
  const script = { "completions/_tool": "'--dry-run[only say it]'\n", "contrib/tool-completion.bash": "--dry-run\n" };
  const before = { ...script, "src/cli.ts": 'option("--dry-run");\n' };
  expect(await compare(before, { ...script, "src/cli.ts": "\n" }, "`--dry-run`")).toEqual(["--dry-run removed"]);
  const program = { "completion/zsh.go": 'package c\nvar f = fs.Bool("dry-run", false, "")\n// --dry-run\n' };
  expect(await compare({ ...before, ...program }, { ...script, ...program }, "`--dry-run`")).toEqual([]);
});

test("names the file that declares a name first, before those that use it", async () => {
  const use = "import { startJob } from './z.ts';\nstartJob();\n";
  const before = await indexSource(
    treeOf({ "a.test.ts": use, "b.ts": use, "z.ts": "export function startJob() {}\n" }),
  );
  const after = await indexSource(treeOf({ "b.ts": "\n", "z.ts": "\n" }));
  const references = findCodeReferences("page.md", Buffer.from("`startJob()`"), plainDialect);
  const [stale] = await compareReferences(references, before, after);
  expect(stale?.paths).toEqual(["z.ts", "b.ts", "a.test.ts"]);
});

test("names the file that defines a flag first, before those that only have it", async () => {
  const files = { "src/a.py": 'ARGS = ["--dry-run"]\n', "src/z.py": 'p.add_argument("--dry-run")\n' };
  const before = await indexSource(treeOf(files));
  const after = await indexSource(treeOf({ "src/a.py": "\n", "src/z.py": "\n" }));
  const references = findCodeReferences("page.md", Buffer.from("`--dry-run`"), plainDialect);
  const [stale] = await compareReferences(references, before, after);
  expect(stale).toMatchObject({ paths: ["src/z.py", "src/a.py"], isCertain: true });
});

test("what a page imports from another package is that package's, wherever the page names it", async () => {
  const before = { "src/context.ts": "export function createContext() {}\n", "package.json": '{ "name": "kit" }' };
  const after = { "src/context.ts": "\n", "package.json": '{ "name": "kit" }' };
  const page = (from: string) =>
    `\`React.createContext\`\n\n\`\`\`ts\nimport { createContext } from "${from}";\n\`\`\`\n`;
  expect(await compare(before, after, page("react"))).toEqual([]);
  expect(await compare(before, after, page("kit"))).toEqual(["createContext removed", "createContext removed"]);
  const crate = { "src/lib.rs": "#[macro_use]\nextern crate serde_derive;\n" };
  expect(await compare(crate, { "src/lib.rs": "\n" }, "Add `serde_derive`.")).toEqual([]);
});

test("a file that every program has is the reader's", async () => {
  const files = { "src/index.js": "run();\n", "src/store.js": "run();\n" };
  expect(await compare(files, {}, "`src/index.js` and `src/store.js`")).toEqual(["src/store.js removed"]);
});

test("a variant of an enumeration is defined, an element of a list is not", async () => {
  const variant = (opened: string) => ({ "src/keys.rs": `${opened} {\n    Pop(u8),\n    PriorMatch,\n}\n` });
  const gone = { "src/keys.rs": "\n" };
  expect(await compare(variant("pub enum Key"), gone, "`PriorMatch`")).toEqual(["PriorMatch removed"]);
  for (const opened of ["enum Key {\n    A,\n}\nlet all = vec!", "// an enum of keys\ncall(", "enum Key { A }\ncall("])
    expect(await compare(variant(opened), gone, "`PriorMatch`")).toEqual([]);
});

test("what only tests define is not an interface, but a folder's name may end like theirs", async () => {
  const change = (path: string) => compare({ [path]: "export function doMock() {}\n" }, { [path]: "\n" }, "`doMock()`");
  const tests = ["integrationtest/a.ts", "dev-test/a.ts", "e2e-tests/a.ts", "starter/{{ name }}/a.ts"];
  for (const path of [...tests, "BUILD.gn", "lib/CMakeLists.txt"]) expect(await change(path)).toEqual([]);
  for (const path of ["packages/vitest/a.ts", "src/_pytest/a.ts", "latest/a.ts", "packages/kit-test/a.ts"])
    expect(await change(path)).toEqual(["doMock removed"]);
});

test("an import is of the sources if its package or Python module is, whatever else has the name", async () => {
  const before = { "kit/__init__.py": "", "kit/part.py": "class DeepMode:\n    pass\n" };
  const sample = (from: string) => `\`\`\`py\nfrom ${from} import DeepMode\n\`\`\`\n`;
  expect(await compare(before, { "kit/__init__.py": "" }, sample("kit.part"))).toEqual(["DeepMode removed"]);
  expect(await compare(before, { "kit/__init__.py": "" }, sample("other.part"))).toEqual([]);
  const both = `${sample("other.part")}\n${sample("kit.part")}\n${sample("other")}`;
  expect(await compare(before, { "kit/__init__.py": "" }, both)).toEqual(["DeepMode removed"]);
  // A component around another library's of the same name.
  const wrapped = {
    "package.json": '{ "name": "own-kit" }',
    "a.ts": 'import { DeepMode as Base } from "kit";\nexport const DeepMode = wrap(Base);\n',
  };
  const left = { "package.json": wrapped["package.json"] };
  const page = (from: string) => `\`\`\`ts\nimport { DeepMode } from "${from}";\n\`\`\`\n`;
  expect(await compare(wrapped, left, page("own-kit"))).toEqual(["DeepMode removed"]);
  expect(await compare(wrapped, left, page("kit"))).toEqual([]);
  expect(await compare(wrapped, left, "`DeepMode`")).toEqual([]);
  const passed = { ...left, "a.ts": 'export { DeepMode } from "kit";\n' };
  expect(await compare(passed, left, page("own-kit"))).toEqual(["DeepMode removed"]);
  const used = { ...left, "a.ts": 'import { DeepMode } from "kit";\nexport * from "kit";\nrun(DeepMode);\n' };
  expect(await compare(used, left, page("own-kit"))).toEqual([]);
});

test("a flag in the scripts of a manifest is no dependency, and `--no-name` may be a flag of its own", async () => {
  const scripts = { "package.json": '{ "scripts": { "a": "tool --deep-mode" } }' };
  const before = { ...scripts, "a.ts": 'option("--deep-mode");\n' };
  expect(await compare(before, { b: "" }, "`--deep-mode`")).toEqual(["--deep-mode removed"]);
  const own = { "a.go": 'flags.Bool("no-network")\n', "b.go": "func network() {}\n" };
  expect(await compare(own, { "b.go": own["b.go"] }, "`--no-network`")).toEqual(["no-network removed"]);
  const told = { "a.go": 'flags.BoolVar(&quiet, "quiet", false)\nfail("use --quiet")\n' };
  expect(await compare(told, { b: "" }, "`--quiet`")).toEqual(["--quiet removed"]);
  const css = { "a.css": ":root {\n  color: red;\n  --deep-mode: 1px;\n}\n" };
  expect(await compare(css, { b: "" }, "`--deep-mode`")).toEqual(["--deep-mode removed"]);
});

test("a constant that the code only uses, a flag that it passes and a patch are others'", async () => {
  const before = {
    "a.cc": "int mode = on ? WIN_DEEP : WIN_NONE;\n",
    "a.go": 'args = append(args, "--registry="+v)\n',
    "a.ts": "read(process.env.OWN_DEEP);\n",
    "a.patch": "+class DeepMode {\n",
    "test/a.ts": 'get("/api/deep/jobs");\n',
  };
  const page = "`WIN_DEEP`, `--registry`, `OWN_DEEP`, `DeepMode`, `GET /api/deep/jobs`";
  expect(await compare(before, { b: "" }, page)).toEqual(["OWN_DEEP removed"]);
});

test("a route is there as long as a router has its end", async () => {
  const before = { "a.go": 'r.Post("/jobs/{id}/archive")\n', "b.go": "\n" };
  const page = "`POST /jobs/{id}/archive`";
  expect(await compare(before, { "a.go": 'jobs.Post("/archive")\n' }, page)).toEqual([]);
  const twice = { ...before, "b.go": 'teams.Post("/archive")\n' };
  expect(await compare(twice, { ...twice, "a.go": "\n" }, page)).toEqual([]);
  expect(await compare(before, { ...before, "a.go": "\n" }, page)).toEqual(["/jobs/{}/archive removed"]);
});

test("helpers of tests and settings of tools define nothing", async () => {
  const before = {
    "internal/apptest/a.go": 'run("age-keygen");\n',
    "scripts/a.js": 'run("age-keygen");\n',
    ".spelling": "`age-keygen`\n",
  };
  expect(await compare(before, { "b.go": "\n" }, "`age-keygen`")).toEqual([]);
});

test("an environment variable that is now read by its prefix is still there", async () => {
  const before = { "a.ts": "read(env.APP_DB_HOST);\n" };
  expect(await compare(before, { "a.ts": 'readAll(env, "APP_DB_");\n' }, "`APP_DB_HOST`")).toEqual([]);
  expect(await compare(before, { "a.ts": "\n" }, "`APP_DB_HOST`")).toEqual(["APP_DB_HOST removed"]);
});

test("a package is gone where its folder now has another, not where the folder left with it", async () => {
  const before = { "kit/package.json": '{ "name": "old-kit" }', "b.ts": "\n" };
  const page = '```js\nimport x from "old-kit/part";\n```\n';
  expect(await compare(before, { "b.ts": "\n" }, page)).toEqual([]);
  expect(await compare(before, { ...before, "kit/package.json": '{ "name": "old-kit", }' }, page)).toEqual([]);
  const renamed = { ...before, "kit/package.json": '{ "name": "new-kit" }' };
  expect(await compare(before, renamed, page)).toEqual(["old-kit removed"]);
});

test("a data file passes a key, and a program that reads it makes it the project's own", async () => {
  const setting = { "deploy/a.yaml": "deepMode: true\n" };
  expect(await compare(setting, { b: "" }, "`deepMode`")).toEqual([]);
  const read = { ...setting, "a.ts": "use(config.deepMode);\n" };
  expect(await compare(read, { b: "" }, "`deepMode`")).toEqual(["deepMode removed"]);
});

test.each([
  ["an option of somebody else's function", "load({\n  deepMode: true,\n});\n"],
  ["a variable in a function", "function f() {\n  const deepMode = 1;\n  use(deepMode);\n}\n"],
  ["a private member", "class A {\n  private deepMode(x: number) {\n  }\n}\n"],
  ["a comment", '// deepMode: set by "deepMode"\n'],
  ["a parameter", "class A {\n  run(x: number, deepMode?: number): void {}\n}\n"],
  [
    "a class around a class of others",
    "import { deepMode as Base } from 'kit';\nexport class deepMode extends Base {}\n",
  ],
  ["an import", "import {\n  type B } from 'b'; import type deepMode from 'c';\n"],
  ["a call", "import {\n  deepMode,\n} from 'b';\nplugins = [\n  deepMode({\n  }),\n];\n"],
  ["a sentence", 'const text = "not `deepMode`";\n'],
])("what the sources only use is not their own: %s", async (_, code) => {
  expect(await compare({ "a.ts": code }, { "a.ts": "\n" }, "`deepMode`")).toEqual([]);
});

test.each([
  ["a.ts", "load({\n  deepMode: true,\n});\nuse(options.deepMode);\n"],
  ["a.ts", "export const deepMode = 1;\n"],
  ["a.ts", "interface A {\n    deepMode?: boolean,\n}\n"],
  ["a.ts", "interface A {\n  deepMode: boolean;\n}\n"],
  ["a.ts", "class A {\n  async deepMode(x: number) {\n  }\n}\n"],
  ["a.ts", 'register("deepMode", run);\n'],
  ["a.js", "App.prototype.deepMode = function (x) {\n};\n"],
  ["a.js", "exports.deepMode = run;\n"],
  ["a.ts", "const defaults = {\n  deepMode: true,\n};\nconst { a, deepMode } = config;\n"],
  ["a.ts", "const options = z.object({\n  deepMode: z.boolean(),\n});\n"],
  ["kit/a.ts", "import { deepMode } from 'kit/a';\nexport function deepMode() {}\n"],
  ["a.py", "class A:\n    def deepMode(self):\n        pass\n"],
  ["a.py", "def run(\n    deepMode: Annotated[\n        bool,\n    ] = True,\n): ...\n"],
  ["a.py", "class A:\n    deepMode: bool = True\n"],
  ["a.go", "func (a *App) deepMode(x int) {\n}\n"],
  ["a.go", 'type A struct {\n\tmode string `yaml:"deepMode,omitempty"`\n}\n'],
  ["a.rs", "pub fn deepMode() {}\n"],
  ["A.java", "class A {\n  String deepMode(int x) {\n  }\n}\n"],
  ["chart/values.yaml", "deepMode: true\n"],
  ["config.schema.json", '{ "properties": { "deepMode": {} } }\n'],
])("what the sources define is their own: %s %j", async (path, code) => {
  expect(await compare({ [path]: code }, { [path]: "\n" }, "`deepMode`")).toEqual(["deepMode removed"]);
});

test("a flag with a value is passed to another program, one with a placeholder is defined", async () => {
  const before = { "a.go": 'flags = append(flags, "--log-deep=true")\n', "a.ts": 'option("--log-flat=<path>");\n' };
  expect(await compare(before, { b: "" }, "`--log-deep`, `--log-flat`")).toEqual(["--log-flat removed"]);
});

test("a flag of another program that the sources run is not their own", async () => {
  expect(
    await compare({ "a.js": "// x\nrun(`node --loader-path x`);\n" }, { "a.js": "\n" }, "`--loader-path`"),
  ).toEqual([]);
  const own = { "a.js": 'option("-l, --loader-path <dir>");\n' };
  expect(await compare(own, { "a.js": "\n" }, "`--loader-path`")).toEqual(["--loader-path removed"]);
});

test("one plain word and a variable of the page's samples are no references", () => {
  const sample = "```ts\nexport const jobLoader = async () => 1;\n```\n";
  expect(namesIn(`\`retry\`, \`Router\`, \`jobLoader\`, \`retry()\`\n\n${sample}`)).toEqual(["1:34 identifier retry"]);
  expect(namesIn("`retry: 1`, `max-age: 1`, `--web.port`, `--web`")).toEqual([
    "1:14 config-key max-age",
    "1:42 flag --web",
  ]);
});

test("private names, placeholders, the reader's files and lines about a replacement are no references", () => {
  expect(
    namesIn("`_watchJob`, `job_`, `<PROJECT_ID>`, `./src/flake.nix`, `<JobList>`\n\nReplacing a `cloudEvent` resource"),
  ).toEqual(["1:59 identifier JobList"]);
});

test("a page whose title says that it is about an upgrade has no references", () => {
  expect(namesIn("---\ntitle: Preparing for v2\n---\n\n`oldName`")).toEqual([]);
  expect(namesIn("# What’s New in v2\n\n`oldName`")).toEqual([]);
  expect(namesIn("# Guide\n\n`oldName`")).toHaveLength(1);
  const section = "## Migration guide\n\n`oldName`\n\n### v2\n\n`oldKey`\n\n## Use\n\n`newName`\n";
  expect(namesIn(section)).toEqual(["11:2 identifier newName"]);
  for (const heading of ["Replacing `oldName`", "Legacy shapes"])
    expect(namesIn(`## ${heading}\n\n\`oldKey\``)).toEqual([]);
  const named = (path: string) => findCodeReferences(path, Buffer.from("`oldName`"), plainDialect);
  expect(
    ["legacy.md", "site/versioned_docs/version-1/a.md", "adrs/3.md", "guide.md"].map((path) => named(path).length),
  ).toEqual([0, 0, 0, 1]);
});

test("members of global objects, attributes of HTML and calls of the reader's functions are no references", () => {
  const sample = [
    "window.addEventListener(x);",
    "handleError(error);",
    "listJobs(x: number): void;",
    "client.runJob(1);",
    "<input id={1}",
    "  defaultValue={2} />",
    "<JobList pageSize={1} />",
  ];
  expect(namesIn(["```tsx", ...sample, "```"].join("\n"))).toEqual([
    "4:1 identifier listJobs (sample)",
    "5:8 identifier runJob (sample)",
    "8:2 identifier JobList (sample)",
    "8:10 identifier pageSize (sample)",
  ]);
});

test("a Go method with a body is the reader's, and a signature alone is the docs'", () => {
  const sample = "func (a *Agent) SetHost(x string) *Agent\n\nfunc (s *Thing) IsDone() bool {\n}\n";
  expect(namesIn(`\`\`\`go\n${sample}\`\`\`\n`)).toEqual(["2:17 identifier SetHost (sample)"]);
});

test("an import with a placeholder names no package", () => {
  expect(namesIn('```go\nimport "kit/<module>/part"\n```\n')).toEqual([]);
});

test("what every program has is no reference", () => {
  const sample = "```ts\nimport { find } from 'kit';\nfind({ jobQueue: jobId, [taskId]: getChat() });\n```\n";
  expect(namesIn(`\`JSON.parse\`, \`--version\`, \`/src/pages/\`, \`/docs/index.js\`\n\n${sample}`)).toEqual([
    "4:10 identifier find (sample)",
    "4:23 package kit (sample)",
    "5:8 identifier jobQueue (sample)",
  ]);
});

test("knows a route by its end, whatever its parameters are called", async () => {
  const before = { "src/routes.ts": 'router.get("/jobs/:id/run", show);\n' };
  const page = "`GET /v2/jobs/{jobId}/run`";
  expect(await compare(before, { "src/routes.ts": 'router.get("/jobs/:job/run", show);\n' }, page)).toEqual([]);
  expect(await compare(before, { "src/routes.ts": 'router.get("/jobs/:job", show);\n' }, page)).toEqual([
    "/jobs/{}/run removed",
  ]);
});
