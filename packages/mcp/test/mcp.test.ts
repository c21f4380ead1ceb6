// Costly: a client starts `emend mcp` and speaks to its streams.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeEnvironment } from "@emend/testkit/server.ts";
import { Client as NewClient, StreamableHTTPClientTransport as NewHttpTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdioTransport } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Installation, startInstallation } from "../../cli/test/support/installation.ts";

// The official client with a real server: over HTTP, and through `emend mcp`.
let emend: Installation;
beforeAll(async () => {
  emend = await startInstallation();
});
afterAll(() => emend.stop());

async function connected<T>(transport: Transport, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  return work(client).finally(() => client.close());
}

function overHttp(key = emend.key): Transport {
  return new StreamableHTTPClientTransport(new URL(`${emend.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
}

function stdioServer() {
  const main = join(import.meta.dirname, "..", "..", "cli", "src", "main.ts");
  return {
    command: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", main, "mcp", "--project", emend.project],
    env: { ...emend.env, ...nodeEnvironment },
    stderr: "pipe" as const,
  };
}

function overStdio(): Transport {
  return new StdioClientTransport(stdioServer());
}

async function call(client: Client, name: string, input: Record<string, unknown>) {
  const { content, isError, structuredContent } = await client.callTool({ name, arguments: input });
  const [{ text = "" } = {}] = content as { text?: string }[];
  if (!isError) expect(structuredContent).toEqual(JSON.parse(text));
  return { isError: isError === true, text, value: isError ? null : JSON.parse(text) };
}

const names = [
  "add_claim",
  "answer_approval",
  "cancel_job",
  "check_gate_again",
  "confirm_claim",
  "create_automation",
  "create_job",
  "edit_automation",
  "follow_up",
  "get_diff",
  "get_findings",
  "get_gate",
  "get_health",
  "get_job",
  "list_automations",
  "list_claims",
  "list_gates",
  "list_jobs",
  "list_projects",
  "publish_preview",
  "remove_automation",
  "remove_claim",
  "run_automation",
];

test("a mistaken argument is refused by its name, with what was probably meant", async () => {
  await connected(overHttp(), async (client) => {
    const { project } = emend;
    for (const [name, input, words] of [
      ["create_job", { project, prompt: 5 }, "`prompt` must be a string"],
      ["create_job", { project, prompt: "" }, "`prompt` must not be empty"],
      ["create_job", { project, instruction: "Fix broken links." }, "`prompt` is required"],
      [
        "create_job",
        { prompt: "Fix.", projectId: "prj_other" },
        "Unknown argument `projectId`; did you mean `project`?",
      ],
      ["list_jobs", { project, limt: 1 }, "Unknown argument `limt`; did you mean `limit`?"],
      ["list_jobs", { project, limit: "3" }, "`limit` must be a number"],
      ["list_jobs", { project, limit: 1.5 }, "`limit` must be an integer"],
      ["list_jobs", { project, limit: 0 }, "`limit` must be at least 1"],
      ["list_jobs", { project, limit: 1000 }, "`limit` must be at most 50"],
      ["list_jobs", { project, status: "done" }, "`status` must be `active` or `completed` or `archived` or `failed`"],
      [
        "create_automation",
        { project, name: "A", prompt: "Fix.", trigger: { kind: "cron", expression: 5 } },
        "`trigger.expression` must be a string",
      ],
      ["create_automation", { project, trigger: { kind: "daily" } }, "`trigger.kind` must be "],
    ] as const) {
      const { isError, text } = await call(client, name, input);
      expect({ isError, text }, JSON.stringify(input)).toEqual({ isError: true, text: expect.stringContaining(words) });
      expect(text).not.toMatch(/Invalid input|expected/);
    }
  });
});

test("an agent adds, lists, confirms and removes claims over HTTP", async () => {
  await connected(overHttp(), async (client) => {
    const { project } = emend;
    const places = { project, page: "docs/a.md:1", source: "src/a.ts:1" };
    const { value: claim } = await call(client, "add_claim", places);
    expect(claim).toMatchObject({ state: "new", page: { path: "docs/a.md" } });
    const listed = await call(client, "list_claims", { project, page: "docs/a.md" });
    expect(listed.value.claims.map(({ id }: { id: string }) => id)).toEqual([claim.id]);
    const mistaken = await call(client, "list_claims", { project, file: "docs/a.md", colour: "red" });
    expect(mistaken.text).toContain(
      "Unknown argument `file`; did you mean `page`?; Unknown argument `colour`; there is `project`, ",
    );
    const refused = await call(client, "confirm_claim", { project, id: claim.id });
    expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/^conflict: Only a changed claim/) });
    expect((await call(client, "remove_claim", { project, id: claim.id })).value.id).toBe(claim.id);
  });
});

test("an agent reads gates and health, and creates, pauses and removes an automation over HTTP", async () => {
  await connected(overHttp(), async (client) => {
    const { project } = emend;
    expect((await call(client, "list_gates", { project })).value).toEqual({ gates: [] });
    for (const name of ["get_gate", "check_gate_again"]) {
      const refused = await call(client, name, { project, id: "gat_none" });
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("Status not found.") });
    }
    expect((await call(client, "get_health", { project })).value).toMatchObject({ findings: expect.any(Array) });
    const { value: made } = await call(client, "create_automation", { project, preset: "links" });
    expect(made).toMatchObject({ trigger: { kind: "cron" }, paused: false });
    const { id } = made;
    expect((await call(client, "edit_automation", { project, id, paused: true })).value.paused).toBe(true);
    const listed = (await call(client, "list_automations", { project })).value.automations;
    expect(listed).toMatchObject([{ id, paused: true }]);
    expect((await call(client, "remove_automation", { project, id })).value.id).toBe(id);
    expect(await call(client, "run_automation", { project, id })).toMatchObject({ isError: true });
  });
});

test("docs/integrate.md lists each tool with its arguments", async () => {
  const page = await readFile(join(import.meta.dirname, "../../../docs/integrate.md"), "utf8");
  const codesIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code);
  const documented = new Map<string, readonly string[]>();
  for (const [, tools = "", given = ""] of page.matchAll(/^\| (`\w+`.*?) \| (.*) \|$/gm)) {
    for (const tool of codesIn(tools)) {
      const isForProject = tool !== "list_projects" && tool !== "check";
      documented.set(tool, [...codesIn(given), ...(isForProject ? ["project"] : [])].sort());
    }
  }
  const { tools } = await connected(overStdio(), (client) => client.listTools());
  const real = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {}).sort()] as const);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(real));
});

test("an agent creates, follows, reads and checks a job over HTTP", async () => {
  await connected(overHttp(), async (client) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(names);
    expect(tools.filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);

    const { project } = emend;
    const created = await call(client, "create_job", { project, prompt: "Fix broken links.", wait_seconds: 50 });
    expect(created.value.job).toMatchObject({ status: "completed", model: "emend/rules" });
    expect(created.value.job.prLink).toContain(emend.url);
    const { id } = created.value.job;

    expect((await call(client, "get_job", { project, id })).value.summary).toContain("fix broken links");
    const { files, diff } = (await call(client, "get_diff", { project, id })).value;
    expect(files.length).toBeGreaterThan(0);
    expect(diff).toMatch(/^diff --git /);
    const { findings } = (await call(client, "get_findings", { project, id })).value;
    expect(findings.after).toBeLessThan(findings.before);

    const more = { project, id, prompt: "Set the front matter field order of index to 1.", wait_seconds: 50 };
    const followed = (await call(client, "follow_up", more)).value;
    expect(followed.job).toMatchObject({ id, status: "completed", prLink: created.value.job.prLink });
    expect((await call(client, "get_diff", { project, id })).value.diff).toContain("+order: 1");
    // The key's project uses the built-in rules, which cannot read files.
    const unread = { isError: true, text: expect.stringMatching(/^invalid_request: .*files/) };
    const named = { project, prompt: "Fix broken links.", files: ["upl_1"] };
    expect(await call(client, "create_job", named)).toMatchObject(unread);
    expect(await call(client, "follow_up", { ...named, id })).toMatchObject(unread);
    const listed = (await call(client, "list_jobs", { project, status: "completed" })).value;
    expect(listed.jobs.map((job: { id: string }) => job.id)).toEqual([id]);
  });
});

test("an agent does the same through `emend mcp`, which also checks a local folder", async () => {
  await connected(overStdio(), async (client) => {
    const created = await call(client, "create_job", { prompt: "Rewrite everything.", wait_seconds: 50 });
    expect(created.value).toMatchObject({
      job: { status: "failed", prLink: null },
      failure: { code: "instruction_not_understood" },
    });
    const { count, findings } = (await call(client, "check", { dir: join(emend.dir, "docs") })).value;
    expect(count).toBe(findings.length);
    expect(findings[0]).toMatchObject({ check: expect.any(String), path: expect.any(String) });
    const sources = [join(emend.dir, "nowhere")];
    const refused = await call(client, "check", { dir: join(emend.dir, "docs"), sources });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("there is no folder") });
  });
});

test("a key with one project need not name it; previews, pages, cancels and publishes", async () => {
  await connected(overHttp(), async (client) => {
    await client.listTools();
    const { projects } = (await call(client, "list_projects", {})).value;
    expect(projects).toMatchObject([{ id: emend.project, name: "Docs" }]);
    const input = {
      prompt: "Set the front matter field order of index to 2.",
      preview: true,
      base: "main",
      wait_seconds: 50,
    };
    const previewed = (await call(client, "create_job", input)).value;
    expect(previewed.job).toMatchObject({ status: "completed", prLink: null });
    expect((await call(client, "get_diff", { id: previewed.job.id })).value.diff).toContain("+order: 2");
    const first = (await call(client, "list_jobs", { limit: 1 })).value;
    const second = (await call(client, "list_jobs", { limit: 1, cursor: first.nextCursor })).value;
    expect(second.jobs[0].id).not.toBe(first.jobs[0].id);
    const over = await call(client, "cancel_job", { id: previewed.job.id });
    expect(over.value.job).toMatchObject({ id: previewed.job.id, status: "completed" });
    const published = await call(client, "publish_preview", { id: previewed.job.id, wait_seconds: 50 });
    expect(published.value.job).toMatchObject({ status: "completed", prLink: expect.any(String) });
  });
});

test.each(["http", "stdio"])(
  "a client of the protocol 2026-07-28 discovers the server and calls tools (%s)",
  async (way) => {
    const client = new NewClient(
      { name: "test", version: "1.0.0" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    const requestInit = { headers: { authorization: `Bearer ${emend.key}` } };
    const transport =
      way === "http"
        ? new NewHttpTransport(new URL(`${emend.url}/mcp`), { requestInit })
        : new NewStdioTransport(stdioServer());
    await client.connect(transport);
    try {
      const { tools } = await client.listTools();
      const local = way === "stdio" ? ["check"] : [];
      expect(tools.map(({ name }) => name).sort()).toEqual([...names, ...local].sort());
      const listed = await client.callTool({ name: "list_projects", arguments: {} });
      expect(listed.structuredContent).toMatchObject({ projects: [{ id: emend.project, name: "Docs" }] });
      const mistaken = await client.callTool({ name: "list_jobs", arguments: { limit: 0 } });
      expect(mistaken).toMatchObject({ isError: true });
      expect(JSON.stringify(mistaken.content)).toContain("`limit` must be at least 1");
    } finally {
      await client.close();
    }
  },
);

test("refuses pages of other sites, whatever key they have (DNS rebinding)", async () => {
  const headers = {
    authorization: `Bearer ${emend.key}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const ask = async (more: Record<string, string>) =>
    (await fetch(`${emend.url}/mcp`, { method: "POST", headers: { ...headers, ...more }, body })).status;
  expect(await ask({ origin: "https://evil.example" })).toBe(403);
  expect(await ask({ origin: "null" })).toBe(403);
  expect(await ask({ origin: emend.url })).toBe(200);
  expect(await ask({})).toBe(200);
});

test("what Emend refuses is a result that the agent can read", async () => {
  const readOnly = await emend.newKey("--read-only");
  await connected(overHttp(readOnly), async (client) => {
    const refused = await call(client, "create_job", { project: emend.project, prompt: "Fix broken links." });
    expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/^forbidden: /) });
    const foreign = await call(client, "list_jobs", { project: "prj_another" });
    expect(foreign).toMatchObject({ isError: true, text: expect.stringMatching(/^not_found: /) });
    const wrong = await call(client, "get_job", { project: emend.project });
    expect(wrong.isError).toBe(true);
  });
});

test("refuses without a key that works, and by any other method", async () => {
  for (const headers of [{}, { authorization: "Bearer emend_nothing" }] as Record<string, string>[]) {
    const refused = await fetch(`${emend.url}/mcp`, { method: "POST", headers, body: "{}" });
    expect(refused.status).toBe(401);
    const metadata = `${emend.url}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer resource_metadata="${metadata}", scope="read write"`;
    expect(refused.headers.get("www-authenticate")).toBe(challenge);
    expect(await refused.json()).toEqual({ error: expect.any(String) });
  }
  const stream = await fetch(`${emend.url}/mcp`, { headers: { authorization: `Bearer ${emend.key}` } });
  expect(stream.status).toBe(405);
  expect(stream.headers.get("allow")).toBe("POST");
});
