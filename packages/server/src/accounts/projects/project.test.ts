import { createTestDatabase } from "@emend/testkit/database.ts";
import { afterAll, describe, expect, test } from "vitest";
import { createSealer } from "../secrets.ts";
import { allowedModels, parseProjectSettings } from "./project-settings.ts";
import { getProject, listProjects, openProjectCredential, setProjectCredential } from "./projects.ts";
import { type AddProjectInput, addProject } from "./save-project.ts";

const database = await createTestDatabase();
afterAll(() => database.drop());
const deps = { db: database.pool, sealer: createSealer("x".repeat(32)) };

function add(input: Partial<AddProjectInput> = {}) {
  return addProject(deps, { name: "Docs", forge: "github", repositoryUrl: "https://github.test/acme/docs", ...input });
}

describe("a project", () => {
  test("is found as it was added, with the defaults of what was not set", async () => {
    const added = await add({ docsDir: "./docs//en/", baseRef: "main", settings: { lanes: 2, later: true } });
    expect(added).toMatchObject({
      id: expect.stringMatching(/^prj_/),
      docsDir: "docs/en",
      baseRef: "main",
      hasCredential: false,
      settings: { lanes: 2, createsPerHourMax: 100, branchPrefix: "emend", model: null, draft: false },
    });
    expect(await getProject(database.pool, added.id)).toEqual(added);
    expect(await listProjects(database.pool)).toContainEqual(added);
    expect(await getProject(database.pool, "prj_none")).toBeUndefined();
  });

  test("keeps its credential sealed", async () => {
    const { id, hasCredential } = await add({ credential: "ghp_token" });
    expect(hasCredential).toBe(true);
    expect(await openProjectCredential(deps, id)).toBe("ghp_token");
    const { rows } = await database.pool.query("select * from projects where id = $1", [id]);
    expect(rows[0].credential.includes("ghp_token")).toBe(false);
    expect(await openProjectCredential(deps, (await add()).id)).toBeNull();
    await setProjectCredential(deps, id, "ghp_newer");
    expect(await openProjectCredential(deps, id)).toBe("ghp_newer");
    await expect(setProjectCredential(deps, "prj_none", "x")).rejects.toMatchObject({ code: "not_found" });
  });

  test.each<[string, Partial<AddProjectInput>]>([
    ["a repository that is no URL", { repositoryUrl: "acme/docs" }],
    ["a repository on another protocol", { repositoryUrl: "ssh://git@github.test/acme/docs" }],
    ["a credential in the URL", { repositoryUrl: "https://token@github.test/acme/docs" }],
    ["a query in the URL", { repositoryUrl: "https://github.test/acme/docs?token=x" }],
    ["no name", { name: " " }],
    ["a base that is no branch", { baseRef: "a..b" }],
    ["a docs folder outside the repository", { docsDir: "docs/../.." }],
    ["an absolute docs folder", { docsDir: "/etc" }],
    ["settings that cannot be", { settings: { lanes: 0 } }],
    ["settings of more than anybody can mean", { settings: { later: "x".repeat(1_500_000) } }],
  ])("is refused with %s", async (_name, input) => {
    await expect(add(input)).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("settings", () => {
  test.each([
    { lanes: "4" },
    { createsPerHourMax: -1 },
    { createsPerHourMax: 1.5 },
    { branchPrefix: "a b" },
    { branchPrefix: "-x" },
    { model: "" },
    { limits: { costUsdMax: -1 } },
    { policy: { allowedPaths: [1] } },
    [],
    "x",
  ])("%j are refused in words", (settings) => {
    expect(() => parseProjectSettings(settings)).toThrow(/^Project settings: /);
  });

  test("defaults are added at every level, and shared by no two projects", () => {
    const settings = parseProjectSettings({ forge: { labels: ["docs"] }, later: { a: 1 } });
    expect(settings).toMatchObject({
      forge: { labels: ["docs"], reviewers: [], squash: null },
      limits: { stepsMax: 60 },
      later: { a: 1 },
    });
    settings.models.push("a/b");
    settings.forge.reviewers.push("ada");
    expect(parseProjectSettings({})).toMatchObject({ models: [], forge: { labels: [], reviewers: [] } });
  });

  test("the project's model comes before the installation's, and both before the further ones", () => {
    expect(allowedModels(parseProjectSettings({}), "emend/rules")).toEqual(["emend/rules"]);
    expect(allowedModels(parseProjectSettings({ model: "a", models: ["b"] }), "emend/rules")).toEqual(["a", "b"]);
  });
});
