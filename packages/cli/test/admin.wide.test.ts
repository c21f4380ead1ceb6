// Costly: commands beside a running server and without one are two ways into the same data, from two processes.
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { startSamlProvider } from "@emend/testkit/saml-provider.ts";
import { totpCode } from "@emend/testkit/totp-code.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Running, runEmend, runInProcess, startEmend } from "./support/run-emend.ts";
import { makeDataDir, makeTempDir, removeDir } from "./support/temp-dir.ts";

// One server for all tests: an operator uses the commands while a server runs.
let dir: string;
let env: Record<string, string>;
let server: Running;
let url: string;
/** A data folder that no server uses. */
let idleData: string;
beforeAll(async () => {
  dir = await makeTempDir();
  // The most verbose log level: no log line may appear in a command's output.
  env = { EMEND_DATA_DIR: await makeDataDir(join(dir, "data")), EMEND_LOG_LEVEL: "trace" };
  idleData = await makeDataDir(join(dir, "idle"));
  server = startEmend(["serve", "--port", "0"], { env });
  await server.untilPrinted('"event":"ready"');
  const ready = server
    .stdout()
    .split("\n")
    .find((line) => line.includes('"ready"'));
  url = JSON.parse(ready ?? "").url;
});
afterAll(async () => {
  server.kill("SIGTERM");
  const { code } = await server.finished;
  await removeDir(dir);
  expect(code).toBe(0);
});

async function addProject(): Promise<string> {
  const { stdout } = await runInProcess(["project", "add", "Docs", "--forge", "local"], { env });
  return stdout.trim();
}

test("project add prints the id alone, and project list shows it", async () => {
  const added = await runEmend(["project", "add", "Product docs", "--forge", "local", "--docs", "site"], { env });
  expect(added.code).toBe(0);
  expect(added.stdout).toMatch(/^prj_\w+\n$/);

  const listed = await runInProcess(["project", "list", "--json"], { env });
  const project = JSON.parse(listed.stdout).find(({ id }: { id: string }) => id === added.stdout.trim());
  expect(project).toMatchObject({ name: "Product docs", forge: "local", baseRef: null, docsDir: "site" });
  expect(project.repositoryUrl).toBe(`${url}/git/${project.id}.git`);
  const table = await runInProcess(["project", "list"], { env });
  expect(table.stdout).toMatch(/^ID +NAME .*\n(.*\n)*prj_\w+ +Product docs /);
});

test("a project is shown, edited by the dashboard's checks and removed, by its name as by its id", async () => {
  const { stdout } = await runInProcess(["project", "add", "Handbook", "--forge", "local"], { env });
  const id = stdout.trim();
  const settings = async (...words: string[]) => runInProcess(["project", "settings", "Handbook", ...words], { env });

  expect((await runInProcess(["project", "show", "Handbook"], { env })).stdout).toContain(id);
  expect(JSON.parse((await settings()).stdout)).toMatchObject({ lanes: 4, limits: { costUsdMax: 2 } });
  const edited = await settings(
    "lanes=2",
    "limits.costUsdMax=5",
    "limits.stepsMax=9",
    '{"draft":true}',
    "docsDir=site",
  );
  expect(JSON.parse(edited.stdout)).toMatchObject({ lanes: 2, draft: true, limits: { costUsdMax: 5, stepsMax: 9 } });
  const mistyped = await settings("limits.stepMax=3");
  expect(mistyped.code).not.toBe(0);
  expect(mistyped.stderr).toContain("`limits.stepMax`; did you mean `stepsMax`?");
  const refused = await settings("model=nope/x");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("Unknown model") });
  const pattern = { check: "broken-link", path: "old/**", reason: "frozen" };
  const silenced = await settings(`checks.ignore=${JSON.stringify([pattern])}`);
  expect(JSON.parse(silenced.stdout)).toMatchObject({ checks: { ignore: [pattern] } });
  const unreasoned = await settings('checks.ignore=[{"check":"broken-link"}]');
  expect(unreasoned).toMatchObject({ code: 2, stderr: expect.stringContaining('"ignore" 1 has no "reason"') });
  const shown = JSON.parse((await runInProcess(["project", "show", id, "--json"], { env })).stdout);
  expect(shown).toMatchObject({ id, name: "Handbook", docsDir: "site", settings: { lanes: 2 } });

  const keyed = { ...env, EMEND_PROJECT: "Handbook" };
  expect((await runInProcess(["key", "create"], { env: keyed })).code).toBe(0);
  await runInProcess(["project", "add", "Handbook", "--forge", "local"], { env });
  const two = await runInProcess(["project", "show", "Handbook"], { env });
  expect(two).toMatchObject({ code: 2, stderr: expect.stringContaining("several projects have the name Handbook") });

  expect((await runInProcess(["project", "remove", id, "--confirm", "Handbook"], { env })).code).toBe(0);
  expect((await runInProcess(["project", "show", id], { env })).code).toBe(4);
});

test("project set takes another address or token that works, follows a renamed repository only when told to", async () => {
  const far = await startFarEnd(githubVendor);
  onTestFinished(async () => {
    await far.close();
    expect(far.violations).toEqual([]);
  });
  far.tokens.add("tok_new");
  const tokens = { env: { ...env, OLD: far.token, NEW: "tok_new", WRONG: "tok_wrong" } };
  const run = (...args: string[]) => runInProcess(args, tokens);
  const add = ["--forge", "github", "--repo", far.repositoryUrl, "--token-env", "OLD"];
  const id = (await run("project", "add", "Far docs", ...add)).stdout.trim();
  const set = (...args: string[]) => run("project", "set", id, ...args);
  const addressOf = async () => {
    const listed = JSON.parse((await run("project", "list", "--json")).stdout);
    return listed.find((project: { id: string }) => project.id === id).repositoryUrl;
  };
  const lastToken = async () => {
    far.tokens.delete("tok_new");
    const { stdout } = await run("project", "doctor", id);
    far.tokens.add("tok_new");
    return stdout.includes(`reads ${far.state.path}`) ? "old" : "new";
  };
  expect(await addressOf()).toBe(far.repositoryUrl);

  const wrong = await set("--token-env", "WRONG");
  expect(wrong).toMatchObject({ code: 4, stdout: "" });
  expect(wrong.stderr).toContain("401");
  far.state.mayPush = false;
  const weak = await set("--token-env", "NEW");
  expect(weak).toMatchObject({ code: 4, stdout: "" });
  expect(weak.stderr).toMatch(/push/);
  far.state.mayPush = true;
  expect(await set("--repo", `${far.url}/acme/docs/more`)).toMatchObject({ code: 2, stdout: "" });
  const elsewhere = await set("--repo", "https://other.test/acme/docs");
  expect(elsewhere).toMatchObject({ code: 2, stdout: "" });
  expect(elsewhere.stderr).toContain("another server");
  expect([await addressOf(), await lastToken()]).toEqual([far.repositoryUrl, "old"]);

  expect(await set("--token-env", "NEW")).toMatchObject({ code: 0 });
  expect([await addressOf(), await lastToken()]).toEqual([far.repositoryUrl, "new"]);

  Object.assign(far.state, { path: "acme/handbook", movedTo: "/elsewhere/1" });
  const renamed = await set("--token-env", "OLD");
  expect(renamed).toMatchObject({ code: 4, stdout: "" });
  expect(renamed.stderr).toContain("moved");
  expect(await addressOf()).toBe(far.repositoryUrl);
  const followed = await set("--follow");
  expect(followed).toMatchObject({ code: 0 });
  expect(followed.stdout).toContain(`${far.url}/acme/handbook`);
  expect(await addressOf()).toBe(`${far.url}/acme/handbook`);
});

test("budget sets the installation's limits and removes them, one by one", async () => {
  const budget = async (...args: string[]) => {
    const { stdout } = await runInProcess(["budget", ...args, "--json"], { env });
    return JSON.parse(stdout).map(({ costUsdMax, jobsMax }: { costUsdMax: number; jobsMax: number }) => [
      costUsdMax,
      jobsMax,
    ]);
  };
  expect(await budget("--usd", "200", "--jobs", "1000")).toEqual([[200, 1000]]);
  expect(await budget("--jobs", "none")).toEqual([[200, null]]);
  expect(await budget("--usd", "none")).toEqual([]);
});

test("project context adds, lists and removes what a project's jobs may read", async () => {
  const [project, code] = [await addProject(), await addProject()];
  const context = (...args: string[]) => runInProcess(["project", "context", ...args], { env });
  const refused = await context(
    "add",
    project,
    "api",
    "--forge",
    "github",
    "--repo",
    "acme/api",
    "--token-env",
    "NONE",
  );
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("NONE is not set") });
  const empty = await context("add", project, "api", "--forge", "local", "--repo", code);
  expect(empty).toMatchObject({ stdout: "", stderr: expect.stringContaining("The repository is empty") });
  expect((await context("remove", project, "api")).code).not.toBe(0);
  expect((await context("list", project, "--json")).stdout).toBe("[]\n");
});

test("a key works as soon as it is printed, and no more once it is revoked", async () => {
  const project = await addProject();
  const created = await runInProcess(["key", "create", "--project", project, "--name", "ci", "--expires", "90d"], {
    env,
  });
  expect(created.stdout).toMatch(/^emend_\w+\n$/);
  const key = created.stdout.trim();
  const client = { EMEND_URL: url, EMEND_API_KEY: key };
  const get = () => runInProcess(["job", "get", project, "job_none"], { env: client });
  expect((await get()).stderr).toContain("does the key cover its project");

  const listed = await runInProcess(["key", "list", "--json"], { env });
  expect(listed.stdout).not.toContain(key);
  const entry = JSON.parse(listed.stdout).find(({ projectIds }: { projectIds: string[] }) => projectIds[0] === project);
  expect(entry).toMatchObject({ name: "ci", scope: "write", revokedAt: null });

  const revoked = await runInProcess(["key", "revoke", entry.id, "--json"], { env });
  expect(JSON.parse(revoked.stdout)).toEqual({ id: entry.id, revoked: true });
  expect((await runInProcess(["key", "revoke", "nobody"], { env })).code).toBe(4);
  const refused = await get();
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("is EMEND_API_KEY right");
});

test("one of several installations says that only it knows a key", async () => {
  const project = await addProject();
  const create = (own: object, ...more: string[]) =>
    runInProcess(["key", "create", "--project", project, ...more], { env: { ...env, ...own } });
  expect((await create({ EMEND_CELL: "eu-1" })).stderr).toContain("Only cell eu-1 knows this key.");
  expect(JSON.parse((await create({ EMEND_CELL: "eu-1" }, "--json")).stdout)).toMatchObject({ cell: "eu-1" });
  expect((await create({})).stderr).not.toContain("cell");
});

test("a read-only key cannot create a job", async () => {
  const project = await addProject();
  const created = await runInProcess(["key", "create", "--project", project, "--read-only", "--json"], { env });
  const client = { EMEND_URL: url, EMEND_API_KEY: JSON.parse(created.stdout).key };
  const { code, stderr } = await runInProcess(["job", "create", project, "Fix broken links."], { env: client });
  expect(code).toBe(4);
  expect(stderr).toContain("read-only");
});

test("a key for an unknown project is refused", async () => {
  const { code, stdout, stderr } = await runInProcess(["key", "create", "--project", "prj_none"], { env });
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(stderr).toContain("prj_none");
});

const open = (link: string) => fetch(link, { redirect: "manual" });

test("the owner's link that serve prints works until user link prints another", async () => {
  await server.untilPrinted('"event":"owner-link"');
  const line = server
    .stdout()
    .split("\n")
    .find((each) => each.includes("owner-link"));
  const printed: string = JSON.parse(line ?? "").url;
  // Opening the link does not use it up: the page only asks for the new owner.
  for (let look = 1; look <= 2; look += 1) {
    const opened = await open(printed);
    expect(opened.headers.get("location")).toBe(`${url}/app/welcome#${printed.slice(printed.lastIndexOf("/") + 1)}`);
    expect(opened.headers.get("set-cookie")).toBeNull();
  }
  const { code, stdout } = await runInProcess(["user", "link"], { env });
  expect(code).toBe(0);
  expect((await open(printed)).status).toBe(410);
  expect((await open(stdout.trim())).status).toBe(303);
});

test("user link --to logs a browser in on the server that runs, once", async () => {
  const { code, stdout } = await runInProcess(["user", "link", "--to", "/app"], { env });
  expect(code).toBe(0);
  const link = stdout.trim();
  expect(link.startsWith(`${url}/login/`)).toBe(true);
  expect((await open(link)).headers.get("set-cookie")).toContain("HttpOnly");
  expect((await open(link)).status).toBe(410);
});

const post = (path: string, body: object, cookie = "") =>
  fetch(`${url}/dashboard/api${path}`, {
    method: "POST",
    headers: { origin: url, "content-type": "application/json", cookie },
    body: JSON.stringify(body),
  });
const accept = (link: string, password: string) =>
  post("/auth/accept", { token: link.slice(link.lastIndexOf("/") + 1), name: "Ada", password });

test("user list shows invited people, and user reset gives a new password", async () => {
  const invited = await runInProcess(["user", "invite", "ada@example.com", "--role", "owner", "--json"], { env });
  expect((await accept(JSON.parse(invited.stdout).url, "a first long password")).status).toBe(201);
  const listed = await runInProcess(["user", "list"], { env });
  expect(listed.stdout).toMatch(/^E-MAIL .*\nada@example.com +owner +password /);

  const reset = await runInProcess(["user", "reset", "ADA@example.com"], { env });
  expect((await accept(reset.stdout.trim(), "a second long password")).status).toBe(201);
  const unknown = await runInProcess(["user", "reset", "nobody@example.com"], { env });
  expect({ code: unknown.code, stdout: unknown.stdout }).toEqual({ code: 4, stdout: "" });
  expect(unknown.stderr).toContain("nobody@example.com");
});

test("user reset-factor removes a person's second factors and ends their sessions", async () => {
  const invited = await runInProcess(["user", "invite", "bo@example.com"], { env });
  const joined = await accept(invited.stdout.trim(), "a first long password");
  const cookie = joined.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const none = await runInProcess(["user", "reset-factor", "bo@example.com"], { env });
  expect(none.code).toBe(4);
  expect(none.stderr).toContain("bo@example.com has no second factor, so nothing was changed");
  const { key, setup } = (await (await post("/factors/authenticator-app/begin", {}, cookie)).json()) as {
    key: string;
    setup: string;
  };
  const confirmed = await post("/factors/authenticator-app/confirm", { setup, code: totpCode(key) }, cookie);
  expect(confirmed.status).toBe(200);
  expect((await runInProcess(["user", "list"], { env })).stdout).toMatch(/^bo@example.com .*password, second factor /m);
  const done = await runInProcess(["user", "reset-factor", "BO@example.com"], { env });
  expect(done).toMatchObject({ code: 0, stdout: "Removed a second factor of bo@example.com.\n" });
  const credentials = { email: "bo@example.com", password: "a first long password" };
  expect(await (await post("/auth/login", credentials)).json()).toEqual({ secondStep: null });
  expect((await post("/session/end", {}, cookie)).status).toBe(401);
});

test("doctor finds nothing missing, and the server that runs", async () => {
  const { code, stdout } = await runEmend(["doctor", "--json"], { env });
  expect(code).toBe(0);
  const { ok, examinations } = JSON.parse(stdout);
  expect(ok).toBe(true);
  const verdicts = Object.fromEntries(
    examinations.map(({ name, verdict }: { name: string; verdict: string }) => [name, verdict]),
  );
  expect(verdicts).toMatchObject({ node: "good", git: "good", data: "good", database: "good", server: "good" });
});

test("doctor tries its own model and mail server, and asks the running worker about those that jobs use", async () => {
  const mail = { EMEND_SMTP_URL: "smtp://127.0.0.1:1", EMEND_SMTP_FROM: "emend@acme.test" };
  const other = { ...mail, EMEND_MODEL: "anthropic/claude-x" };
  const told = await runInProcess(["doctor"], { env: { ...env, ...other } });
  expect(told.stdout).toMatch(/✗ model +anthropic\/claude-x is not reachable/);
  expect(told.stdout).toMatch(/✓ worker +emend\/rules.*, tried by the worker on/);
  const alone = await runInProcess(["doctor", "--data", idleData], { env: { ...env, ...other } });
  expect(alone.stdout).toMatch(/✗ model +anthropic\/claude-x is not reachable/);
  expect(alone.stdout).not.toContain("worker");
  expect(alone.stdout).toMatch(/✗ email +127\.0\.0\.1:1 does not answer/);
});

test("doctor reads the metadata of the SAML provider", async () => {
  const provider = await startSamlProvider();
  const examine = (url: string) =>
    runInProcess(["doctor", "--data", idleData], { env: { ...env, EMEND_SAML_METADATA_URL: url } });
  const good = await examine(provider.metadataUrl);
  await provider.close();
  expect(good.stdout).toContain(`✓ saml        ${provider.entityId}, signing certificates: 1`);
  const bad = await examine(provider.metadataUrl);
  expect(bad).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/✗ saml +http.*Can't reach the identity provider/),
  });
});

test("doctor says why a server that answers is not ready", async () => {
  const problem = "The disk is full.";
  const full = createHttpServer((request, response) => {
    const isReady = request.url !== "/readyz";
    response.writeHead(isReady ? 200 : 503).end(JSON.stringify(isReady ? {} : { error: problem }));
  });
  full.listen(0, "127.0.0.1");
  await once(full, "listening");
  const { port } = full.address() as AddressInfo;
  const seen = await runInProcess(["doctor"], { env: { EMEND_URL: `http://127.0.0.1:${port}`, EMEND_API_KEY: "x" } });
  full.close();
  expect(seen).toMatchObject({ code: 1, stdout: expect.stringContaining(`is not ready: ${problem}`) });
});

test("doctor says what is missing and makes nothing", async () => {
  const nowhere = join(dir, "nowhere");
  const fresh = await runInProcess(["doctor", "--data", nowhere]);
  expect(fresh).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/database .*nothing here yet\n +`npx emend serve` makes it/),
  });
  expect(fresh.stdout).toMatch(/open files +at most \S+; 8 jobs at a time need about 512\n/);
  const unwritable = { EMEND_FORGE_DIR: "/proc/nowhere" };
  const again = await runInProcess(["doctor", "--data", nowhere], { env: unwritable });
  expect(again.stdout).toContain("not there yet");
  // Only root gets as far as to write there.
  const told =
    process.getuid?.() === 0
      ? /✗ forge +\/proc cannot be written \(E[A-Z]+\)\.\n +Set EMEND_FORGE_DIR/
      : /✗ settings +EMEND_FORGE_DIR names \/proc\/nowhere, where this user may not write/;
  expect(again.stdout).toMatch(told);
  const empty = await makeDataDir(join(dir, "empty"));
  expect((await runInProcess(["doctor", "--data", empty])).stdout).toContain("nothing here yet");
  expect(await readdir(empty)).toEqual([]);

  const away = { EMEND_DATABASE_URL: "postgres://me:secret@127.0.0.1:1/none", EMEND_SECRET: "x".repeat(32) };
  const mail = { EMEND_SMTP_URL: "smtp://me:secret@127.0.0.1:1", EMEND_SMTP_FROM: "emend@acme.test" };
  const { code, stdout, stderr } = await runEmend(["doctor"], { env: { ...away, ...mail, PATH: "/nowhere" } });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ database/m);
  expect(stdout).toMatch(/^✗ git +not found/m);
  expect(stdout).toMatch(/^✗ email +127\.0\.0\.1:1 does not answer as it should: .*ECONNREFUSED/m);
  expect(stdout + stderr).not.toContain("secret");
});

test("a second server on the same data is refused in one line", async () => {
  const { code, stderr } = await runEmend(["serve", "--port", "0"], { env });
  expect(code).toBe(4);
  expect(stderr).toContain("another Emend");
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("commands work without a server too: one that begins makes the installation, one that looks does not", async () => {
  const list = () => runInProcess(["project", "list", "--json", "--data", idleData], { env });
  expect(await list()).toMatchObject({
    code: 4,
    stdout: "",
    stderr: expect.stringContaining("emend serve` makes it"),
  });
  expect(await readdir(idleData)).toEqual([]);
  const added = await runInProcess(["project", "add", "Docs", "--forge", "local", "--data", idleData], { env });
  const { code, stdout } = await list();
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ id: added.stdout.trim() }]);
});

test("a port in use is named, with what to do", async () => {
  const occupant = createServer().listen(0, "127.0.0.1");
  const address = await new Promise<{ port: number }>((resolve) => {
    occupant.on("listening", () => resolve(occupant.address() as { port: number }));
  });
  for (const command of ["serve", "demo"]) {
    const { code, stderr } = await runEmend([command, "--port", String(address.port), "--data", idleData]);
    expect(code).toBe(4);
    expect(stderr).toContain(`port ${address.port} is in use`);
  }
  occupant.close();
});
