import type { Finding } from "@emend/site";
import { makePng } from "@emend/testkit/pictures.ts";
import type { OverlayEntry, Tree } from "@emend/tree";
import { expect, it } from "vitest";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import { buildChange, screenshotsOf, withBuilt } from "./build-change.ts";

const found: Finding = { check: "build", severity: "error", path: "a.md", line: 2, column: 1, message: "no" };
const tree = {} as Tree;
const entries: readonly OverlayEntry[] = [{ path: "docs/a.md", mode: "100644", content: Buffer.from("# A\n") }];

const asked = { prompt: "Link to https://asked.example.dev/.", followUps: [], interjections: [] };

async function built(
  settings: object = {},
  {
    byPeople = [],
    jobBase = null,
    message = "no",
    hosts = [],
    unknown = [],
  }: {
    unknown?: { path: string; kind: string }[];
    byPeople?: string[];
    jobBase?: string | null;
    message?: string;
    hosts?: readonly string[];
  } = {},
) {
  const project = {
    id: "prj",
    forge: "local",
    repositoryUrl: "https://git.example.com/docs.git",
    baseRef: "main",
    docsDir: "docs",
    allowedConstructs: [],
    settings: parseProjectSettings({ build: { on: true }, ...settings }),
  };
  const judge = async (task: { isAllowedHost(host: string): boolean }) => [
    { ...found, message },
    ...hosts.flatMap((host) => (task.isAllowedHost(host) ? [{ ...found, message: host }] : [])),
  ];
  const deps = {
    builds: { judge, takePictures: async () => null, takeScreenshots: async () => [] },
    siteCache: new Map<string, string>(),
    knownSecrets: async () => ["a-secret-of-this-installation"],
  };
  const change = { base: tree, head: tree, entries, byPeople, unknown };
  const findings = await buildChange(
    deps,
    project,
    { ...asked, baseRef: jobBase },
    change,
    new AbortController().signal,
  );
  return findings.map(({ severity, message: words }) => `${severity} ${words}`);
}

it("builds a change only if all code that runs is on the project's base branch", async () => {
  expect(await built()).toEqual(["error no"]);
  expect(await built({}, { jobBase: "main" })).toEqual(["error no"]);
  const not = "info the site was not built: ";
  expect(await built({}, { jobBase: "other" })).toEqual([
    `${not}the job starts from other, not from the project's base branch`,
  ]);
  expect(await built({}, { byPeople: ["docs/a.md"] })).toEqual([
    `${not}people have changed files on its branch, and only code of the base branch is run`,
  ]);
  expect(await built({}, { unknown: [{ path: "docs/a.md", kind: "template" }] })).toEqual([
    `${not}a builder may run what waits for approval (template in docs/a.md)`,
  ]);
  expect(await built({}, { unknown: [{ path: "docs/a.md", kind: "element" }] })).toEqual(["error no"]);
  expect(await built({ policy: { allowedPaths: ["docs/*.md"] } })).toEqual([
    `${not}policy.allowedPaths lets the change add code to docs/a.md`,
  ]);
});

it("builds nothing unless the project turned it on", async () => {
  expect(await built({ build: {} })).toEqual([]);
});

it("shows no credential that a builder quotes", async () => {
  expect(await built({}, { message: "bad line: a-secret-of-this-installation" })).toEqual([
    "error bad line: [redacted: known]",
  ]);
});

it("allows the domains that the request or the project names, and no other", async () => {
  const hosts = ["asked.example.dev", "docs.acme.dev", "away.dev"];
  expect(await built({}, { hosts })).toEqual(["error no", "error asked.example.dev"]);
  const policy = { externalHosts: ["*.acme.dev"] };
  expect(await built({ policy }, { hosts })).toEqual(["error no", "error asked.example.dev", "error docs.acme.dev"]);
});

it("what a browser sees of the change itself is a question, once; a page with more than documentation is denied", () => {
  const passed = {
    kind: "passed",
    introduced: [],
    fixed: [],
    constructs: [],
    findingsBefore: 0,
    findingsAfter: 0,
  } as const;
  expect(withBuilt(passed, [found, { ...found, check: "built-page", message: "runs a script" }])).toEqual({
    kind: "denied",
    violations: [{ path: "a.md", rule: "runs a script" }],
  });
  const edit = { ...found, check: "built-edit", message: "loads a frame" };
  const asked = { path: "a.md", text: "loads a frame", key: "built loads a frame" };
  expect(withBuilt(passed, [edit])).toMatchObject({ kind: "passed", introduced: [], constructs: [asked] });
  expect(withBuilt(passed, [edit], ["built loads a frame"])).toMatchObject({ kind: "passed", constructs: [] });
});

it("an error of the builder makes a draft, a warning does not, and a denied change stays denied", () => {
  const passed = {
    kind: "passed",
    introduced: [],
    fixed: [],
    constructs: [],
    findingsBefore: 0,
    findingsAfter: 0,
  } as const;
  expect(withBuilt(passed, [found])).toMatchObject({ kind: "flagged", introduced: [found] });
  expect(withBuilt(passed, [{ ...found, severity: "warning" }])).toMatchObject({ kind: "passed" });
  const denied = { kind: "denied", violations: [] } as const;
  expect(withBuilt(denied, [found])).toBe(denied);
});

it("takes screenshots only with code of the base branch, and only pictures from the sandbox", async () => {
  const png = makePng();
  const answers = [png, Buffer.from("<svg onload=alert(1)>")].map((bytes, at) => ({
    ...{ file: `docs/${at}.png`, kind: "renewed" as const, bytes, chance: 0 },
  }));
  const deps = {
    builds: { judge: async () => [], takePictures: async () => null, takeScreenshots: async () => answers },
    siteCache: new Map<string, string>(),
    knownSecrets: async () => [],
  };
  const settings = parseProjectSettings({ build: { on: true } });
  const place = { id: "prj", forge: "local", repositoryUrl: "https://git.example.com/docs.git" };
  const project = { ...place, baseRef: "main", docsDir: "docs", allowedConstructs: [], settings };
  const take = (byPeople: string[]) => {
    const change = { base: tree, head: tree, entries, byPeople };
    return screenshotsOf(deps, project, { baseRef: null }, change, new AbortController().signal);
  };
  expect(await take(["docs/a.md"])).toMatch(/^people have changed files/);
  expect(await take([])).toMatchObject([
    { file: "docs/0.png", kind: "renewed" },
    { file: "docs/1.png", kind: "failed", words: "what was taken is no picture" },
  ]);
});
