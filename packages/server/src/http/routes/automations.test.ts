import { presetNames } from "@emend/contract";
import { startApi, type TestApi } from "@emend/testkit/api.ts";
import { allowSearch } from "@emend/testkit/automations.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listPresets, presets } from "../../automations/presets.ts";

let api: TestApi;
let path: string;
let key: string;
let projectId: string;
beforeAll(async () => {
  api = await startApi();
  const project = await api.addProject({ model: "anthropic/claude-sonnet-4-6" });
  projectId = project.id;
  path = `/v2/agent/${projectId}/automations`;
  key = await api.addKey(project);
  await api.pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     values ('ctx_1', $1, 'api', 'github', 'https://github.test/acme/api')`,
    [project.id],
  );
});
afterAll(() => api.close());

const post = (body: unknown) => api.send(path, { method: "POST", key, body });

test("201: every preset can be added as it is, and watches the only context repository", async () => {
  await allowSearch(api.pool, projectId);
  for (const preset of presetNames) {
    const answer = await post({ preset });
    expect(answer, preset).toMatchObject({ status: 201, json: { name: presets[preset].title, paused: false } });
  }
  const { json } = await api.send(path, { key });
  const triggers = (json as { automations: { trigger: { repository?: string } }[] }).automations.map(
    ({ trigger }) => trigger,
  );
  expect(triggers.map(({ repository }) => repository)).toEqual([
    "api",
    "api",
    undefined,
    ".",
    "api",
    ".",
    undefined,
    "api",
  ]);
});

test("200: an automation is created from its parts, edited, run and removed", async () => {
  const made = await post({ name: "own", prompt: "Fix broken links." });
  const { id } = made.json as { id: string };
  const one = `${path}/${id}`;
  const trigger = { kind: "pull_request", repository: "api", on: ["merged"], branches: [], include: [], exclude: [] };
  const edited = await api.send(one, { method: "PATCH", key, body: { trigger, prompt: "{{title}}", paused: true } });
  expect(edited).toMatchObject({ status: 200, json: { id, name: "own", trigger, paused: true } });
  const run = await api.send(`${one}/run`, { method: "POST", key });
  expect(run).toMatchObject({ status: 200, json: { state: "started", jobId: expect.stringMatching(/^job_/) } });
  expect((await api.send(one, { method: "DELETE", key })).status).toBe(200);
  expect((await api.send(one, { method: "DELETE", key })).status).toBe(404);
});

test.each([
  [{}, /name and prompt are required/],
  [
    { preset: "nope" },
    /Presets: stale-references, merged-code, links, screenshots, changelog, translations, support-tickets, release-issues/,
  ],
  [{ preset: "merged-code", repository: "web", name: "x" }, /no context repository "web"/],
  [{ name: "x", prompt: "{{diff}}" }, /set only after a pull request event/],
  [{ name: "x", prompt: "y", trigger: { kind: "push" } }, /the fields of that kind/],
  [{ name: "x", prompt: "y\0" }, /must not contain U\+0000/],
  [{ name: 1 }, /not an automation/],
])("400: %j", async (body, words) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  expect((answer.json as { error: string }).error).toMatch(words);
});

test("400: a preset that the project's model cannot carry out, or without code to watch, is not added", async () => {
  for (const [model, words] of [
    ["emend/rules", /"changelog" needs a language model/],
    ["openai/gpt-5", /Add a context repository to the project first/],
  ] as const) {
    const project = await api.addProject({ model });
    const there = { method: "POST", key: await api.addKey(project) };
    const automations = `/v2/agent/${project.id}/automations`;
    const answer = await api.send(automations, { ...there, body: { preset: "changelog" } });
    expect(answer).toMatchObject({ status: 400, json: { error: expect.stringMatching(words) } });
    const asked = { ...there, body: { preset: "support-tickets", model: "openai/gpt-5" } };
    const knowing = await api.send(automations, asked);
    expect(knowing).toMatchObject({ status: 400, json: { error: expect.stringMatching(/allows no tool of one/) } });
    const listed = await listPresets({ db: api.pool, defaultModel: "emend/rules" }, project.id);
    const refused = listed.filter(({ problem }) => problem !== null).map(({ name }) => name);
    const needModel = presetNames.filter((name) => !presets[name].promptOfRules);
    expect(needModel).not.toContain("links");
    expect(refused).toEqual(model === "emend/rules" ? needModel : ["support-tickets", "release-issues"]);
    const links = await api.send(automations, { ...there, body: { preset: "links" } });
    expect(links).toMatchObject({ status: 201 });
    const own = { preset: "translations", prompt: "Fix broken links." };
    expect((await api.send(automations, { ...there, body: own })).status).toBe(201);
  }
});

test("404: an automation of another project cannot be edited, run or removed", async () => {
  const { json } = await post({ name: "mine", prompt: "Fix broken links." });
  const { id } = json as { id: string };
  const other = await api.addProject();
  const foreign = await api.addKey(other);
  const there = `/v2/agent/${other.id}/automations/${id}`;
  expect((await api.send(there, { method: "PATCH", key: foreign, body: { paused: true } })).status).toBe(404);
  expect((await api.send(`${there}/run`, { method: "POST", key: foreign })).status).toBe(404);
  expect((await api.send(there, { method: "DELETE", key: foreign })).status).toBe(404);
});
