import { expect, test } from "vitest";
import { compare, treeOf } from "../../test/support/sources.ts";
import { isDefinedIn } from "./defined-in.ts";
import { indexSource } from "./source-index.ts";

test("a path that ends other paths too may be the reader's, as in a template", async () => {
  const page = "`cmd/deep/main.go`";
  expect(await compare({ "cmd/deep/main.go": "a" }, { "cmd/deep/cmd.go": "b" }, page)).toHaveLength(1);
  const made = { "testdata/project/cmd/deep/main.go": "c" };
  expect(await compare({ "cmd/deep/main.go": "a", ...made }, made, page)).toEqual([]);
  // Another source that has it knows it, whatever else it has.
  const other = await indexSource(treeOf({ "cmd/deep/main.go": "a", ...made }));
  expect(await isDefinedIn([other], { kind: "file", text: "cmd/deep/main.go" })).toBe(true);
});

test("a name that another source only uses is not defined there", async () => {
  const createJob = { kind: "identifier", text: "createJob" } as const;
  const isDefined = async (text: string) => isDefinedIn([await indexSource(treeOf({ "src/a.ts": text }))], createJob);
  expect(await isDefined('import { createJob } from "@other/kit";\ncreateJob();\n')).toBe(false);
  expect(await isDefined("client.createJob({});\n")).toBe(false);
  expect(await isDefined("export function createJob() {}\n")).toBe(true);
  expect(await isDefined("export const other = 1;\n")).toBe(false);
  const tests = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`a.${i}.test.ts`, "createJob();\n"]));
  const amongTests = treeOf({ ...tests, "src/z.ts": "export function createJob() {}\n" });
  expect(await isDefinedIn([await indexSource(amongTests)], createJob)).toBe(true);
  const route = { kind: "route", text: "GET /v2/jobs/{id}" } as const;
  const inTests = treeOf({ "test/a.ts": 'get("/v2/jobs/:id");\n', "src/b.ts": 'get("/jobs/:id");\n' });
  expect(await isDefinedIn([await indexSource(inTests)], route)).toBe(true);
});

test("a flag is there if the change wrote it in another spelling, even if other files had that before", async () => {
  const old = {
    "a.go": 'flags.BoolVar(&c, "no-deep-check", c)\nflags.BoolVar(&a, "ask-pass", a)\n',
    "b.go": "ask_pass\n",
  };
  const now = { "a.go": 'Name: "no_deep_check",\nName: "ask_pass",\n', "b.go": "ask_pass\n" };
  const page = "`--no-deep-check` `--ask-pass`";
  expect(await compare(old, now, page)).toEqual([]);
  expect(await compare(old, { "b.go": "ask_pass\n" }, page)).toHaveLength(2);
  expect(await compare(old, { "b.go": "ask_pass\n", "test/a.go": "ask_pass\n" }, page)).toHaveLength(2);
});

test("a string alone on its line, a declared module and a setting at the root define nothing", async () => {
  const list = 'const packages = [\n  "kit-plus",\n];\n';
  expect(await compare({ "src/a.js": list }, { "src/a.js": "\n" }, "`kit-plus`")).toEqual([]);
  expect(await compare({ "src/a.d.ts": "declare module 'kit-plus';\n" }, { b: "" }, "`kit-plus`")).toEqual([]);
  const setting = { kind: "config-key", text: "deep-mode" } as const;
  expect(await isDefinedIn([await indexSource(treeOf({ "tool.yml": "deep-mode: 1\n" }))], setting)).toBe(false);
  expect(await isDefinedIn([await indexSource(treeOf({ "app/tool.yml": "deep-mode: 1\n" }))], setting)).toBe(true);
});
