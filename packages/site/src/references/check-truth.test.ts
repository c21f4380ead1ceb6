import { describe, expect, it } from "vitest";
import { type Files, memoryTree } from "../../test/support/memory-tree.ts";
import { openSite } from "../open-site.ts";
import { checkTruth } from "./check-truth.ts";
import { indexSource } from "./source-index.ts";

async function found(page: string, source: Files = {}, docs: Files = {}): Promise<string[]> {
  const site = await openSite(memoryTree({ "index.md": page, ...docs }));
  const findings = await checkTruth(site, { sources: [], indexes: [await indexSource(memoryTree(source))] });
  return findings.map(({ check, path, line, message }) => `${check} ${path}:${line} ${message}`);
}
const fence = (language: string, ...lines: string[]): string => [`\`\`\`${language}`, ...lines, "```", ""].join("\n");

describe("samples", () => {
  it.each([
    fence("json", "{", '  "a": 1, // a comment', '  "b": [1, 2,],', "}"),
    fence("json", '"inside": { "of": "an object" },'),
    fence("json", '{"one": 1}', '{"line": 2}'),
    fence("json", '{ "a": ... }'),
    fence("json", '{ "a": <your id> }'),
    fence("yaml", "a: 1", "---", "b: !env NAME", "b: 2"),
    fence("yaml", "a: {{ template }}"),
    fence("toml", "[a]", 'b = "c"'),
    fence("text", "{ no json"),
  ])("parse, or are shortened: %j", async (page) => {
    expect(await found(page)).toEqual([]);
  });

  it("are reported with their line where they do not parse", async () => {
    expect((await found(`Über\n\n${fence("json", "{", '  "a": 1', '  "b": 2', "}")}`))[0]).toMatch(
      /^sample-syntax index\.md:6 This JSON does not parse: /,
    );
    expect((await found(fence("json", '{ "a": [1,],', '  "b": 2 }')))[0]).toBe(
      "sample-syntax index.md:2 This JSON does not parse: a comma before the closing bracket.",
    );
    expect((await found(fence("yaml", "a: 1", "b: [1", "c: 2")))[0]).toMatch(
      /^sample-syntax index\.md:[345] This YAML does not parse: /,
    );
    expect((await found(fence("toml", "a = 1", "b = = 2")))[0]).toMatch(
      /^sample-syntax index\.md:3 This TOML does not parse: /,
    );
  });

  const kit = {
    "package.json": JSON.stringify({ name: "kit", exports: { ".": "./a.js", "./parts/*": "./parts/*.js" } }),
    "src/a.ts": "export function make() {}\n",
  };

  it("import what the project's own packages have", async () => {
    const good = [
      'import { make } from "kit";',
      'import x from "kit/parts/x";',
      'import { other } from "another/none";',
    ];
    expect(await found(fence("ts", ...good), kit)).toEqual([]);
    expect(await found(fence("ts", 'import { made } from "kit";', 'import x from "kit/none";'), kit)).toEqual([
      "sample-import index.md:2 `kit` has no `made`: the name is nowhere in its sources. Correct the import.",
      "sample-import index.md:3 The package `kit` exports no `kit/none`; correct the import.",
    ]);
  });

  it("of a page of an earlier version import what that version had", async () => {
    const page = fence("ts", 'import { made } from "kit";');
    expect(await found("# Home", kit, { "v1/old.md": page, "v2/new.md": page })).toMatchObject([
      expect.stringMatching(/^sample-import v2\/new\.md:2 /),
    ]);
  });
});

describe("an OpenAPI description", () => {
  const api = {
    "openapi.yaml": `
openapi: 3.1.0
servers: [{ url: "https://api.example.com/v2" }]
paths:
  /jobs:
    get:
      parameters: [{ $ref: "#/components/parameters/state" }]
      responses: { "200": {} }
    post:
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Job" } } } }
      responses: { "201": {}, 4XX: {} }
  /jobs/{id}:
    get: { responses: { "200": {}, "404": {} } }
components:
  parameters: { state: { name: state, in: query, schema: { enum: [open, done] } } }
  schemas:
    Job: { type: object, required: [prompt], properties: { prompt: { type: string }, size: { enum: [s, m] } } }
`,
  };
  const all = "`GET /v2/jobs`, `POST /v2/jobs`, `GET /v2/jobs/{jobId}`\n\n";

  it("agrees with pages that name its operations", async () => {
    const request = `curl -X POST "$HOST/v2/jobs" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"prompt": "x", "size": "s"}'`;
    const page = `${all}## Get\n\n\`GET /v2/jobs/{id}\` answers \`200\` or \`404\`.\n\n${fence("bash", request)}${fence("http", "GET /v2/jobs?state=open HTTP/1.1")}`;
    expect(await found(page, api)).toEqual([]);
  });

  it("lacks what pages name, in routes, methods, parameters, values, status codes and bodies", async () => {
    const page = `${all}## Get\n\n\`GET /v2/jobs/{id}\` answers \`410\`, \`DELETE /v2/jobs/{id}\` and \`GET /v2/jobs/{id}/log\`, \`GET /elsewhere/a\`.\n\n${fence("bash", "curl https://api.example.com/v2/jobs?state=shut", "curl https://api.example.com/v2/jobs?page=2", `curl localhost:4600/v2/jobs -d '{"size": "s"}'`, `curl localhost:4600/v2/jobs -d '{"prompt": "x", "size": "xl"}'`)}`;
    expect((await found(page, api)).map((line) => line.replace("api-mismatch index.md:", ""))).toEqual([
      "5 The description of `GET /v2/jobs/{id}` has no status 410; it has 200, 404.",
      "5 The API has no `DELETE /v2/jobs/{id}`; it has GET there.",
      "5 The API has no `GET /v2/jobs/{id}/log`; correct the route or the description.",
      "8 `state` of `GET /v2/jobs` must be one of open, done.",
      "9 `GET /v2/jobs` has no query parameter `page`.",
      '10 The body of this request does not fit `POST /v2/jobs`: the body lacks the required "prompt".',
      '11 The body of this request does not fit `POST /v2/jobs`: "size" must be one of s, m.',
    ]);
  });

  it("has what no page names, unless pages are made of it", async () => {
    expect(await found("`GET /v2/jobs`\n", api)).toEqual([
      "api-undocumented openapi.yaml:1 No page documents `POST /v2/jobs` of openapi.yaml.",
      "api-undocumented openapi.yaml:1 No page documents `GET /v2/jobs/{id}` of openapi.yaml.",
    ]);
    const generated = { "docs.json": '{"navigation":["index"],"openapi":"openapi.yaml"}', ...api };
    expect(await found("`GET /v2/jobs`\n", {}, generated)).toEqual([]);
  });
});
