import type { DashboardProjectPage } from "@emend/contract";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewProject } from "./project-admin.ts";

let host: DashboardApi;
let id: string;
const added: NewProject[] = [];

beforeAll(async () => {
  host = await startDashboard();
  id = (await host.api.addProject()).id;
});
afterAll(() => host.close());

const audit = async (action: string) =>
  (await host.api.pool.query("select actor, target from audit_log where action = $1 order by id", [action])).rows;

describe("rotating a key", () => {
  const key = { name: "ci", projectIds: [] as string[], scope: "write", expiresInDays: 30, allowList: null };
  const use = async (text: string) => (await host.api.send(`/v2/agent/${id}/jobs`, { key: text })).status;
  const create = async () => (await host.send("/keys", { body: { ...key, projectIds: [id] } })).json();
  const rotate = (oldId: string, overlapDays: unknown) =>
    host.send(`/keys/${oldId}/rotate`, { body: { ...key, projectIds: [id], overlapDays } });

  it("201: both keys work, and the old one expires", async () => {
    const old = await create();
    const answer = await rotate(old.id, 7);
    expect(answer.statusCode).toBe(201);
    expect(await use(old.key)).toBe(200);
    expect(await use(answer.json().key)).toBe(200);
    const { keys } = (await host.send("/keys")).json();
    const days =
      (Date.parse(keys.find((each: { id: string }) => each.id === old.id).expiresAt) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.9);
    expect(days).toBeLessThan(7.1);
  });

  it("201 never lets the old key live longer than it would have", async () => {
    const old = await create();
    await rotate(old.id, 300);
    const { keys } = (await host.send("/keys")).json();
    const { expiresAt } = keys.find((each: { id: string }) => each.id === old.id);
    expect(Date.parse(expiresAt)).toBeLessThan(Date.now() + 31 * 86_400_000);
  });

  it("201 with no overlap: the old key is refused within a second", async () => {
    const old = await create();
    expect(await use(old.key)).toBe(200);
    await rotate(old.id, 0);
    await expect.poll(() => use(old.key)).toBe(401);
  });

  it("201 with an open end: the old key stays as it is", async () => {
    const old = await create();
    const before = (await host.send("/keys")).json().keys.find((each: { id: string }) => each.id === old.id);
    await rotate(old.id, null);
    const after = (await host.send("/keys")).json().keys.find((each: { id: string }) => each.id === old.id);
    expect(after.expiresAt).toBe(before.expiresAt);
  });

  it("404 for an unknown or revoked key, and no new one is made", async () => {
    const old = await create();
    await host.send(`/keys/${old.id}/revoke`, { body: {} });
    const count = (await host.send("/keys")).json().keys.length;
    expect((await rotate(old.id, 7)).statusCode).toBe(404);
    expect((await rotate("nothing", 7)).statusCode).toBe(404);
    expect((await host.send("/keys")).json().keys.length).toBe(count);
  });

  it("400 for an invalid overlap", async () => {
    expect((await rotate("x", -1)).statusCode).toBe(400);
    expect((await rotate("x", "7")).statusCode).toBe(400);
  });
});

describe("the forge's address", () => {
  it("takes the stored token with it: what was given for one host is sent to no other", async () => {
    const { id: other } = await host.api.addProject();
    const hasToken = async () =>
      (await host.api.pool.query("select credential is not null as has from projects where id = $1", [other])).rows[0]
        .has;
    await host.api.pool.query("update projects set credential = 'x', settings = '{}' where id = $1", [other]);
    const edit = (settings: object) => host.send(`/projects/${other}`, { method: "PATCH", body: { settings } });
    expect((await edit({ forge: { labels: ["docs"], apiUrl: null } })).statusCode).toBe(200);
    expect(await hasToken()).toBe(true);
    const named = await edit({ forge: { apiUrl: "https://elsewhere.example" } });
    expect(await hasToken()).toBe(false);
    expect(named.json().settings.forge).toMatchObject({ apiUrl: "https://elsewhere.example" });
  });
});

describe("the model", () => {
  it("400 for a model with an unknown vendor; one that was stored before does not block other edits", async () => {
    const { id: other } = await host.api.addProject({ model: "old/model" });
    const edit = (settings: object) => host.send(`/projects/${other}`, { method: "PATCH", body: { settings } });
    for (const settings of [{ model: "banana/none" }, { models: ["runner/"] }, { fallbackModels: ["openai"] }]) {
      const answer = await edit(settings);
      expect(answer.statusCode).toBe(400);
      expect(answer.body).toMatch(/Unknown model .*emend\/rules.*anthropic\/<model>.*runner\/<program>/);
    }
    expect((await edit({ model: "old/model", models: ["emend/rules", "openai/a/b"] })).statusCode).toBe(200);
    expect((await edit({ model: "runner/codex", fallbackModels: null })).statusCode).toBe(200);
  });
});

describe("the build", () => {
  it("403 for a maintainer who changes how the site is built, since that runs commands on the server", async () => {
    const { id: other } = await host.api.addProject();
    const { cookie } = await host.addMember("maintainer");
    const edit = (settings: object, by?: { cookie: string }) =>
      host.send(`/projects/${other}`, { method: "PATCH", body: { settings }, ...by });
    for (const build of [{ on: true }, { command: "env" }, { packages: "install_with_scripts" }]) {
      const answer = await edit({ build }, { cookie });
      expect([answer.statusCode, answer.json().error]).toEqual([403, expect.stringContaining("Only an owner")]);
    }
    // Other settings, beside the values that are set.
    expect((await edit({ draft: true, build: { on: false, command: null } }, { cookie })).statusCode).toBe(200);
    expect((await edit({ build: { on: true, command: "make docs" } })).statusCode).toBe(200);
    expect((await edit({ build: { command: "make other" } }, { cookie })).statusCode).toBe(403);
  });
});

describe("silenced findings", () => {
  it("400 for a pattern of no check, without a reason or with an unknown field; what is right is stored", async () => {
    const { id: other } = await host.api.addProject();
    const edit = (...ignore: readonly unknown[]) =>
      host.send(`/projects/${other}`, { method: "PATCH", body: { settings: { checks: { ignore } } } });
    for (const [pattern, words] of [
      [{ check: "dead-link", reason: "x" }, /names no check; there are .*broken-link/],
      [{ check: "broken-link", reason: " " }, /has no .*reason/],
      [{ check: "broken-link", reason: "x", page: "a.md" }, /has no setting .*page/],
      ["broken-link", /must be an object/],
    ] as const) {
      const answer = await edit({ check: "image-alt", reason: "old" }, pattern);
      expect(answer.statusCode).toBe(400);
      expect(answer.body).toMatch(words);
    }
    const pattern = { check: "stale-reference", path: "old/**", message: "--out", reason: "frozen" };
    expect((await edit(pattern)).json().settings.checks).toEqual({ ignore: [pattern] });
  });
});

describe("who may", () => {
  const writes: [string, object][] = [
    ["/projects", { name: "x", forge: "local" }],
    ["/projects/ID/diagnosis", {}],
    ["/projects/ID/credential", { credential: "t" }],
    ["/projects/ID/model-keys", { vendor: "openai", key: "k" }],
    ["/projects/ID/models/test", { model: "openai/gpt-5" }],
    ["/projects/ID/context", { name: "code", forge: "local", repo: "x" }],
    ["/projects/ID/context/remove", { name: "code" }],
    ["/projects/ID/health/check", {}],
  ];
  it.each(writes)("403 for a viewer: POST %s", async (path, body) => {
    const { cookie } = await host.addMember("viewer");
    expect((await host.send(path.replace("ID", id), { cookie, body })).statusCode).toBe(403);
  });

  it.each(["webhooks", "context", "models", "health"])("404 for an unknown project: %s", async (what) => {
    expect((await host.send(`/projects/prj_x/${what}`)).statusCode).toBe(404);
    expect((await host.send(`/projects/%00/${what}`)).statusCode).toBe(404);
  });
});

describe("adding", () => {
  it("takes no address of the server's own disk, whatever is sent", async () => {
    const own = await startDashboard({
      projectAdmin: {
        add: async (input: NewProject) => {
          added.push(input);
          throw new Error("seen");
        },
      } as never,
    });
    await own.send("/projects", { body: { name: "x", forge: "local", repo: "/etc", credential: "t" } });
    await own.send("/projects", { body: { name: "y", forge: "gitea", repo: "https://git.test/a/b", credential: "t" } });
    await own.close();
    expect(added).toEqual([
      { name: "x", forge: "local" },
      { name: "y", forge: "gitea", repo: "https://git.test/a/b", credential: "t" },
    ]);
  });

  it.each([{ forge: "sourcehut" }, { forge: undefined }, { name: "" }, { repo: 5 }])("400 for %o", async (change) => {
    const body = { name: "x", forge: "github", repo: "https://github.com/a/b", credential: "t", ...change };
    expect((await host.send("/projects", { body })).statusCode).toBe(400);
  });
});

describe("model keys", () => {
  it("200 sets and takes away, shows neither, and says who", async () => {
    const { email, cookie } = await host.addMember("maintainer");
    const set = (key: string | null) =>
      host.send(`/projects/${id}/model-keys`, { cookie, body: { vendor: "openai", key } });
    expect((await set("sk-canary")).statusCode).toBe(200);
    const listed = await host.send(`/projects/${id}/models`);
    expect(listed.body).not.toContain("sk-canary");
    expect(listed.json().vendors).toContainEqual(expect.objectContaining({ vendor: "openai", key: "project" }));
    await set(null);
    const { vendors } = (await host.send(`/projects/${id}/models`)).json();
    expect(vendors).toContainEqual(expect.objectContaining({ vendor: "openai", key: null }));
    expect(await audit("model_key.set")).toContainEqual({ actor: email, target: id });
  });

  it.each([
    ["a vendor that is none", { vendor: "nobody", key: "k" }],
    ["a key with a line break", { vendor: "openai", key: "a\nb" }],
    ["an empty key", { vendor: "openai", key: "" }],
  ])("400 for %s", async (_what, body) => {
    expect((await host.send(`/projects/${id}/model-keys`, { body })).statusCode).toBe(400);
  });
});

describe("webhooks", () => {
  const body = { url: "https://hooks.example.com/in", format: "standard", events: ["job.completed"] };
  const carryOut = (name: string, input: object) => host.send(`/operations/${name}`, { body: input });

  it("show their secret once; can be disabled, enabled and removed", async () => {
    const made = await carryOut("webhooks.add", { projectId: id, ...body });
    const { id: hook, secret } = made.json();
    const list = () => carryOut("webhooks.list", { projectId: id });
    expect((await list()).body).not.toContain(secret);
    expect((await carryOut("webhooks.disable", { id: hook })).statusCode).toBe(200);
    expect((await list()).json().webhooks[0]).toMatchObject({ id: hook, disabledReason: "by its owner" });
    expect((await carryOut("webhooks.test", { id: hook })).statusCode).toBe(409);
    expect((await carryOut("webhooks.enable", { id: hook })).statusCode).toBe(200);
    expect((await carryOut("deliveries.list", { id: hook })).json()).toEqual({ deliveries: [] });
    expect((await carryOut("webhooks.remove", { id: hook })).statusCode).toBe(200);
    expect((await list()).json().webhooks).toEqual([]);
    expect(await audit("webhook.removed")).toContainEqual({ actor: "console", target: hook });
  });

  it.each([
    ["an address inside", { url: "https://127.0.0.1/" }],
    ["plain http", { url: "http://hooks.example.com/" }],
    ["no event", { events: [] }],
    ["an event that is none", { events: ["job.started"] }],
    ["a format that is none", { format: "xml" }],
  ])("400 for %s", async (_what, change) => {
    expect((await carryOut("webhooks.add", { projectId: id, ...body, ...change })).statusCode).toBe(400);
  });

  it("404 for what is not there", async () => {
    expect((await carryOut("webhooks.remove", { id: "whk_x" })).statusCode).toBe(404);
    expect((await carryOut("webhooks.remove", { id: "%00" })).statusCode).toBe(404);
    expect((await carryOut("deliveries.redeliver", { id: "msg_x" })).statusCode).toBe(404);
    expect((await host.send(`/projects/${id}/context/remove`, { body: { name: "x" } })).statusCode).toBe(404);
  });
});

describe("the list", () => {
  const ask = async (query: string) => {
    const answer = await host.send(`/projects?${query}`);
    const { projects = [], nextCursor } = answer.json() as DashboardProjectPage;
    return { status: answer.statusCode, ids: projects.map((project) => project.id), nextCursor };
  };

  it("has pages, oldest first, and finds a project by name, repository and id", async () => {
    await host.api.pool.query(
      `insert into projects (id, name, forge, repository_url, settings, created_at)
       select 'many_' || lpad(n::text, 3, '0'), 'Many %_ ' || n, 'github', 'https://github.test/Acme/docs-' || n, '{}',
         now() + make_interval(secs => n / 2)
       from generate_series(1, 120) n`,
    );
    try {
      const expected = Array.from({ length: 120 }, (_, index) => `many_${String(index + 1).padStart(3, "0")}`);
      const seen: string[] = [];
      const sizes: number[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page = await ask(`search=many&cursor=${cursor}`);
        seen.push(...page.ids);
        sizes.push(page.ids.length);
        cursor = page.nextCursor;
      }
      expect({ seen, sizes }).toEqual({ seen: expected, sizes: [50, 50, 20] });
      expect((await ask("search=MANY_1")).ids).toEqual(expected.slice(99));
      expect((await ask("search=acme/DOCS-77")).ids).toEqual(["many_077"]);
      // Matched literally, not as a pattern.
      expect((await ask(`search=${encodeURIComponent("%_ 77")}`)).ids).toEqual(["many_077"]);
      expect((await ask("ids=many_120,prj_none,many_001")).ids).toEqual(["many_001", "many_120"]);
    } finally {
      await host.api.pool.query("delete from projects where id like 'many%'");
    }
  });

  it.each(["cursor=a%00b", "ids=%20", `search=${"x".repeat(201)}`])("400 for %s", async (query) => {
    expect((await ask(query)).status).toBe(400);
  });
});

describe("the quota", () => {
  it("is reported in twelve parts of the last hour", async () => {
    const { id: fresh } = await host.api.addProject();
    await host.api.pool.query(
      `insert into quota_uses (project_id, kind, used_at)
       values ($1, 'create', now()), ($1, 'create', now() - interval '59 minutes'), ($1, 'create', now() - interval '2 hours'),
         ($1, 'message', now())`,
      [fresh],
    );
    const { projects } = (await host.send("/projects")).json();
    expect(projects.find((each: { id: string }) => each.id === fresh)).toMatchObject({
      createsThisHour: 2,
      createsByFiveMinutes: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    });
  });
});
