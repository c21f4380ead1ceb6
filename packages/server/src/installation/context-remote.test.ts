import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type GitHttpServer, startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { makeRepository } from "@emend/testkit/make-repository.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { createGit, resolveBase } from "@emend/tree";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listContextRepositories, openContextCredential } from "../accounts/projects/context-repositories.ts";
import { createSealer } from "../accounts/secrets.ts";
import { connectContext } from "../admin/connect-context.ts";
import { type ContextForges, contextForgeOf, contextRemoteOf, createForgeReach } from "./forge-reach.ts";

const git = createGit({ allowedProtocols: ["http", "file"] });
const sealer = createSealer("a secret of the tests, and of nothing else");
const right = `Basic ${Buffer.from("oauth2:good-token").toString("base64")}`;
let database: TestDatabase;
let dir: string;
let server: GitHttpServer;
beforeAll(async () => {
  database = await createTestDatabase();
  dir = await mkdtemp(join(tmpdir(), "emend-context-"));
  makeRepository(join(dir, "acme/code.git")).commit({ "a.ts": "1\n" });
  makeRepository(join(dir, "open/code.git")).commit({ "a.ts": "1\n" });
  server = await startGitHttpServer({
    root: dir,
    authorize: ({ url, headers }) => url?.startsWith("/open/") || headers.authorization === right || 401,
  });
});
afterAll(async () => {
  await server.close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

const reach = createForgeReach({ network: {}, allowPrivateForges: true });
afterAll(() => reach.close());
const forges = (by: ContextForges["reach"] = reach) => ({
  local: { git, forgeDir: join(dir, "forge"), pool: database.pool, publicUrl: () => "http://emend.test" },
  reach: by,
  githubTokens: new Map(),
});
async function connect(repo: string, more: { credential?: string; base?: string; forge?: string } = {}) {
  const deps = { pool: database.pool, sealer, git, forges: forges() };
  const projectId = await seedProject(database.pool);
  return connectContext(deps, { projectId, name: "code", forge: "gitlab", repo: `${server.url}/${repo}`, ...more });
}
const { signal } = new AbortController();

test("a repository is read with its own token, or with none, and never with its credential in the address", async () => {
  const closed = await connect("acme/code.git", { credential: "good-token" });
  expect(closed).toMatchObject({ repositoryUrl: `${server.url}/acme/code`, hasCredential: true });
  const credential = await openContextCredential({ db: database.pool, sealer }, closed.id);
  const remote = await contextRemoteOf(forges(), { ...closed, credential }, signal);
  expect(remote).toEqual({ url: `${server.url}/acme/code.git`, authorization: right, addresses: ["127.0.0.1"] });

  const open = await connect("open/code");
  expect(open.hasCredential).toBe(false);
  expect(await contextRemoteOf(forges(), { ...open, credential: null }, signal)).toMatchObject({ authorization: null });
});

test.each([
  ["acme/code", {}, /credential is missing or expired, or has no read access/],
  ["acme/code", { credential: "bad-token" }, /credential is missing/],
  ["open/other", {}, /check the project's repository URL/],
  ["open/code", { base: "gone" }, /no branch "gone"/],
  ["open/code", { forge: "svn" }, /no forge "svn"/],
  ["user:word@open/code", {}, /credential/],
])("%s %j is refused in words, and nothing is stored", async (repo, more, words) => {
  const count = async () => (await database.pool.query("select count(*) from context_repositories")).rows[0];
  const before = await count();
  const given = repo.startsWith("user") ? { ...more, repo: `https://${repo.replace("@open", "@host/open")}` } : more;
  await expect(connect(repo, given as never)).rejects.toThrow(words);
  expect(await count()).toEqual(before);
});

test("one on this server's private network is refused when it is added and whenever it is read", async () => {
  const strict = createForgeReach({ network: {}, allowPrivateForges: false });
  const projectId = await seedProject(database.pool);
  const before = server.requests.length;
  for (const repo of [`${server.url}/open/code`, `${server.url.replace("127.0.0.1", "localhost")}/open/code`]) {
    const input = { projectId, name: "code", forge: "gitlab", repo };
    const adding = connectContext({ pool: database.pool, sealer, git, forges: forges(strict) }, input);
    await expect(adding).rejects.toMatchObject({
      code: "invalid_request",
      publicMessage: expect.stringContaining("EMEND_ALLOW_PRIVATE_FORGES"),
    });
  }
  const repositoryUrl = `${server.url}/open/code`;
  const stored = { id: "ctx_1", forge: "gitlab" as const, repositoryUrl, apiUrl: null, credential: null };
  await expect(contextRemoteOf(forges(strict), stored, signal)).rejects.toMatchObject({
    code: "repository_unavailable",
    retryable: false,
  });
  expect(server.requests.length).toBe(before);
  await strict.close();
});

test("git connects to the addresses that were judged, whatever a name server says to git itself", async () => {
  const { port } = new URL(server.url);
  const at = (host: string, addresses: readonly string[]) =>
    resolveBase(
      git,
      { remote: { url: `http://${host}:${port}/open/code.git`, authorization: null, addresses }, baseRef: null },
      signal,
    );
  expect(await at("no-such-host.test", ["127.0.0.1"])).toMatchObject({ branch: "main" });
  // API requests use the same addresses.
  const remote = { url: `http://no-such-host.test:${port}/open/code.git`, authorization: null };
  expect(await git.askRefs({ ...remote, addresses: ["127.0.0.1"] }, ["HEAD"], signal)).not.toBeNull();
  const before = server.requests.length;
  await expect(at("localhost", ["127.0.0.2"])).rejects.toMatchObject({ code: "repository_unavailable" });
  expect(server.requests.length).toBe(before);
});

test("on the local forge it is the repository of another project, wherever this installation is reached", async () => {
  const id = await seedProject(database.pool);
  const repositoryUrl = `http://elsewhere.test/git/${id}.git`;
  const url = { forge: "local" as const, repositoryUrl, apiUrl: null, credential: null };
  expect(await contextRemoteOf(forges(), { ...url, id: "ctx_1" }, signal)).toEqual({
    url: pathToFileURL(join(dir, "forge", `${id}.git`)).href,
    authorization: null,
  });
  await expect(
    contextRemoteOf(forges(), { ...url, id: "c", repositoryUrl: "http://x/../y" }, signal),
  ).rejects.toThrow();
});

test("asks the API that was named, where the forge is served from a folder", async () => {
  const projectId = await seedProject(database.pool);
  const deps = { pool: database.pool, sealer, git, forges: forges() };
  // Nothing answers there: that does not keep a repository from being added.
  const input = {
    projectId,
    name: "code",
    forge: "gitlab",
    repo: "https://127.0.0.1:1/gitlab/acme/code",
    credential: "t",
  };
  await expect(connectContext(deps, { ...input, apiUrl: "not a URL" })).rejects.toThrow(/apiUrl/);
  await connectContext(deps, { ...input, apiUrl: "https://127.0.0.1:1/gitlab/api/v4" });
  const [stored] = await listContextRepositories(database.pool, projectId);
  if (!stored) throw new Error("not added");
  const asked: string[] = [];
  const recorded = {
    addressesOf: async () => null,
    fetch: async (url: string) => {
      asked.push(url);
      return { status: 200, headers: new Headers(), body: Readable.from([Buffer.from("[]")]) };
    },
  };
  await contextForgeOf(forges(recorded), { ...stored, credential: "t" })?.listOpenPullRequests(signal);
  expect(asked[0]).toMatch("https://127.0.0.1:1/gitlab/api/v4/projects/acme%2Fcode/merge_requests?");
});
