import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFetch } from "@emend/base/network.ts";
import { listRepositories } from "@emend/forges";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { vendors } from "@emend/testkit/forges/vendors.ts";
import { makeRepository } from "@emend/testkit/make-repository.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RepositoryPage } from "../../../forges/src/repository-address.ts";
import { openProjectCredential } from "../accounts/projects/projects.ts";
import { createSealer } from "../accounts/secrets.ts";
import { loadConfig } from "../config/config.ts";
import type { AppError } from "../errors.ts";
import { localGit } from "../installation/local-git.ts";
import { createAdmin } from "./admin.ts";
import { addLocalProject, connectProject, type NewRemoteProject } from "./connect-project.ts";

describe("connect project", () => {
  const dir = mkdtempSync(join(tmpdir(), "emend-connect-"));
  const config = loadConfig({ EMEND_LOG_LEVEL: "silent" }, { dataDir: dir });
  const secret = "s".repeat(40);
  const sealer = createSealer(secret);
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database.drop();
    rmSync(dir, { recursive: true, force: true });
  });
  const projects = async () => (await database.pool.query("select from projects")).rows.length;

  it.runIf(process.getuid?.() === 0)(
    "of the local forge is not added beside another user's repositories (root)",
    async () => {
      const forgeDir = join(dir, "forge of the server");
      mkdirSync(forgeDir);
      chownSync(forgeDir, 12345, 12345);
      const deps = {
        config,
        db: database.pool,
        sealer,
        git: localGit(),
        forgeDir,
        publicUrl: async () => "http://e.test",
      };
      await expect(addLocalProject(deps, { name: "Docs" })).rejects.toThrow("sudo --user='#12345' emend project add");
      expect(readdirSync(forgeDir)).toEqual([]);
    },
  );

  describe.each(vendors)("a project of $name", (vendor) => {
    let far: FarEnd;
    beforeAll(async () => {
      far = await startFarEnd(vendor);
    });
    afterAll(async () => {
      await far.close();
      expect(far.violations).toEqual([]);
    });
    beforeEach(() => {
      far.tokens.add(far.token);
      Object.assign(far.state, { archived: false, movedTo: null, path: vendor.path, mayPush: true });
    });
    const connect = (more: Partial<NewRemoteProject> = {}, isConsole = true) =>
      connectProject({ config, db: database.pool, sealer, isConsole }, vendor.name, {
        name: "Docs",
        repo: far.repositoryUrl,
        credential: far.token,
        ...more,
      });
    async function refusal(more: Partial<NewRemoteProject> = {}): Promise<string> {
      const before = await projects();
      const error = await connect(more).then(
        () => null,
        (reason: AppError) => reason,
      );
      expect(error).toMatchObject({ code: "invalid_request", retryable: false });
      expect(error?.publicMessage).not.toContain(far.token);
      expect(await projects()).toBe(before);
      return error?.publicMessage ?? "";
    }
    const repo = `${vendor.path.split("/").slice(0, -1).join("/")}/`;

    it.each([
      ["as its page", (url: string) => url],
      ["with .git", (url: string) => `${url}.git`],
      ["with a slash at its end", (url: string) => `${url}/`],
      ["with both", (url: string) => `${url}.git/`],
    ])("is found by its address %s", async (_, written) => {
      expect(await connect({ repo: written(far.repositoryUrl) })).toMatchObject({ repositoryUrl: far.repositoryUrl });
    });

    it("is not contacted on a private address that was entered in the browser, however it is written", async () => {
      const { host, pathname } = new URL(far.repositoryUrl);
      await database.pool.query("truncate trusted_origins");
      const before = far.requests.length;
      const { port } = new URL(far.repositoryUrl);
      for (const repo of [
        far.repositoryUrl,
        `${host}${pathname}`,
        `localhost:${port}${pathname}`,
        `git@localhost:${pathname.slice(1)}`,
        `http://2130706433:${port}${pathname}`,
      ]) {
        const error: Error = await connect({ repo }, false).then(
          () => new Error("added"),
          (reason) => reason,
        );
        expect(error.message, repo).toMatch(/EMEND_ALLOW_PRIVATE_FORGES|can't use this repository URL/);
      }
      expect(far.requests.length).toBe(before);
    });

    it("is contacted there once the console named the server", async () => {
      await connect();
      await expect(connect({}, false)).resolves.toMatchObject({ repositoryUrl: far.repositoryUrl });
    });

    it("is found on its base branch", async () => {
      await expect(connect({ base: "main" })).resolves.toMatchObject({ repositoryUrl: far.repositoryUrl });
    });

    it("is refused on a base branch that it does not have, which are named", async () => {
      expect(await refusal({ base: "nope" })).toMatch(/no branch "nope".*it has: main/);
      expect(await refusal({ base: "-x" })).toMatch(/is not a valid branch name/);
    });

    it("is refused by an address that holds a credential", async () => {
      const url = new URL(far.repositoryUrl);
      url.username = "ada";
      url.password = far.token;
      expect(await refusal({ repo: url.href })).toMatch(/contains a credential/);
    });

    it("is refused with a token that has expired, and with one of another account", async () => {
      expect(await refusal({ credential: "expired" })).toMatch(/(?:401|203).*expired or revoked/);
      far.fault(readOf[vendor.name], { kind: "answer", status: 404, words: "Not Found" });
      expect(await refusal()).toMatch(/404.*repository URL.*token covers/);
    });

    it("is refused with a token that lost its permission", async () => {
      far.fault(readOf[vendor.name], { kind: "answer", status: 403, words: "Resource not accessible" });
      expect(await refusal()).toMatch(/403.*may not read the (repository|project)/);
      far.state.mayPush = false;
      expect(await refusal()).toMatch(/may not push/);
    });

    it("is refused where it is archived, renamed, moved or deleted", async () => {
      if (vendor.name !== "bitbucket") {
        far.state.archived = true;
        expect(await refusal()).toMatch(/is archived/);
        far.state.archived = false;
      }
      if (vendor.name !== "gitlab") {
        far.state.path = `${repo}renamed`;
        expect(await refusal()).toMatch(/is called .*renamed now/);
        far.state.path = vendor.path;
      }
      far.state.movedTo = "/repositories/1";
      expect(await refusal()).toMatch(/301.*has moved.*new URL/);
      far.state.movedTo = null;
      far.fault(readOf[vendor.name], { kind: "answer", status: 410, words: "Gone" });
      expect(await refusal()).toMatch(/410.*archived, locked or gone/);
    });

    it("is refused where its host sends elsewhere, and the token does not follow", async () => {
      const asked: (string | undefined)[] = [];
      const elsewhere = createServer((request, response) => {
        asked.push(request.headers.authorization);
        response.writeHead(302, { location: `${far.url}${request.url}` }).end();
      });
      await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
      const before = far.requests.length;
      const port = (elsewhere.address() as AddressInfo).port;
      const words = await refusal({ repo: `http://127.0.0.1:${port}/${vendor.path}` });
      expect(words).toMatch(/302.*has moved.*new URL/);
      expect([asked.length, far.requests.length]).toEqual([1, before]);
      elsewhere.closeAllConnections();
      elsewhere.close();
    });

    it("is added all the same where its forge is away just now", async () => {
      far.fault(readOf[vendor.name], { kind: "answer", status: 503, words: "Maintenance" });
      const notice = expect.stringMatching(/503.*nothing was checked/s);
      await expect(connect()).resolves.toMatchObject({ repositoryUrl: far.repositoryUrl, notice });
      expect(await connect()).not.toHaveProperty("notice");
      const { notice: words } = await connect({ repo: `http://127.0.0.1:2/${vendor.path}` });
      expect(words).toMatch(/did not answer at 127\.0\.0\.1:2 \(ECONNREFUSED\)/);
    });

    it("is refused with commits that only an App could have", async () => {
      expect(await refusal({ settings: { forge: { verifiedCommits: true } } })).toMatch(/Only a GitHub App/);
    });
  });

  const readOf = {
    github: "GET /repos/{owner}/{repo}",
    gitlab: "GET /projects/{id}",
    gitea: "GET /repos/{owner}/{repo}",
    bitbucket: "GET /repositories/{workspace}/{repo_slug}",
    "azure-devops": "GET /{project}/_apis/git/repositories/{repositoryId}",
  } as const;

  describe("a project of the local forge", () => {
    it("is refused on a base branch that the repository does not have, and leaves nothing behind", async () => {
      const source = makeRepository(join(dir, "source.git"));
      source.commit({ "a.md": "# A\n" });
      const admin = createAdmin({
        config,
        pool: database.pool,
        secret,
        publicUrl: async () => "http://127.0.0.1:1",
        close: async () => {},
      });
      const before = await projects();
      const input = { name: "Docs", forge: "local", repo: source.path };
      await expect(admin.addProject({ ...input, base: "nope" })).rejects.toMatchObject({
        code: "invalid_request",
        publicMessage: expect.stringMatching(/no branch "nope".*it has: main/),
      });
      await expect(admin.addProject({ ...input, docsDir: "nope" })).rejects.toMatchObject({
        code: "invalid_request",
        publicMessage: 'The repository has no folder "nope" on main; it has no folder at all.',
      });
      expect(await projects()).toBe(before);
      await expect(admin.addProject({ ...input, base: "main" })).resolves.toMatchObject({ id: expect.any(String) });
    });
  });
});

describe("move project", () => {
  const dir = mkdtempSync(join(tmpdir(), "emend-move-"));
  const secret = "s".repeat(40);
  const config = loadConfig({ EMEND_LOG_LEVEL: "silent" }, { dataDir: dir });
  const network = createFetch({});
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database.drop();
    await network.close();
    rmSync(dir, { recursive: true, force: true });
  });

  describe.each(vendors)("a project of $name", (vendor) => {
    let far: FarEnd;
    let projectId: string;
    const admin = () =>
      createAdmin({
        config,
        pool: database.pool,
        secret,
        publicUrl: async () => "http://127.0.0.1:4000",
        close: async () => {},
      });
    const stored = async () => {
      const { rows } = await database.pool.query("select repository_url from projects where id = $1", [projectId]);
      const deps = { db: database.pool, sealer: createSealer(secret) };
      return { url: rows[0]?.repository_url, token: await openProjectCredential(deps, projectId) };
    };
    beforeAll(async () => {
      far = await startFarEnd(vendor);
      const input = { name: "Docs", forge: vendor.name, repo: far.repositoryUrl, credential: far.token };
      projectId = (await admin().addProject(input)).id;
    });
    afterAll(async () => {
      await far.close();
      expect(far.violations).toEqual([]);
    });

    it("takes the address that the forge names once it is told to, and keeps its token", async () => {
      const path = vendor.path.replace("docs", "handbook");
      Object.assign(far.state, { path, movedTo: "/elsewhere/1" });
      const result = await admin().moveProject({ projectId, repo: "follow" });
      expect(result.repositoryUrl).toBe(`${far.url}/${path}`);
      expect(await stored()).toEqual({ url: `${far.url}/${path}`, token: far.token });
    });

    it("lists what its token reaches, page by page", async () => {
      const input = { fetch: network.fetch, apiUrl: far.apiUrl, credential: far.token };
      const list = (cursor: string | null, credential = far.token) =>
        listRepositories(vendor.name, { ...input, credential, cursor }, AbortSignal.timeout(10_000));
      if (vendor.name === "bitbucket" || vendor.name === "azure-devops") {
        await expect(list(null)).rejects.toThrow("Enter the repository's address");
        return;
      }
      far.state.otherRepositories = Array.from({ length: 104 }, (_, at) => `acme/site-${at}`);
      const paths: string[] = [];
      let cursor: string | null = null;
      do {
        const page: RepositoryPage = await list(cursor);
        for (const { path, url, defaultBranch } of page.repositories) {
          expect([url, defaultBranch]).toEqual([`${far.url}/${path}`, "main"]);
          paths.push(path);
        }
        cursor = page.next;
      } while (cursor !== null);
      expect(paths).toEqual([far.state.path, ...far.state.otherRepositories]);
      // On GitLab, only the others are requested.
      far.state.otherRepositories = vendor.name === "gitlab" ? [] : ["acme/site-old", "acme/site-read"];
      expect((await list(null)).repositories).toHaveLength(1);
      await expect(list(null, "tok_wrong")).rejects.toThrow("This token is wrong");
    });

    it("takes a new token that works, and refuses one that does not", async () => {
      const before = await stored();
      await expect(admin().moveProject({ projectId, credential: "tok_wrong" })).rejects.toMatchObject({
        code: "invalid_request",
      });
      expect(await stored()).toEqual(before);
      far.tokens.add("tok_new");
      await admin().moveProject({ projectId, credential: "tok_new" });
      expect(await stored()).toEqual({ ...before, token: "tok_new" });
    });

    it("goes to another repository only when no job runs and no pull request is open", async () => {
      const { pool } = database;
      const repo = `${far.url}/${vendor.path.replace(/[^/]+$/, "elsewhere")}`;
      const jobId = `job_${vendor.name}`;
      await pool.query(
        `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by)
         values ($1, $2, 'p', 'emend/rules', $3, 'b', 'b', 'test')`,
        [jobId, projectId, far.repositoryUrl],
      );
      await expect(admin().moveProject({ projectId, repo })).rejects.toThrow("One job of the project is queued");
      // The same repository under its new name is allowed.
      await pool.query("update projects set repository_url = $2 where id = $1", [projectId, far.repositoryUrl]);
      await admin().moveProject({ projectId, repo: `${far.url}/${far.state.path}` });
      const pull = { number: 1, url: `${far.repositoryUrl}/pull/1`, state: "open", draft: false };
      await pool.query("update jobs set status = 'completed', pull_request = $2 where id = $1", [
        jobId,
        JSON.stringify(pull),
      ]);
      await expect(admin().moveProject({ projectId, repo })).rejects.toThrow("One pull request of Emend is open");
      await pool.query('update jobs set pull_request = pull_request || \'{"state":"merged"}\' where id = $1', [jobId]);
      // Only now is the other repository requested. It does not exist.
      await expect(admin().moveProject({ projectId, repo })).rejects.not.toThrow(/queued|is open/);
      far.violations.length = 0;
    });

    it("sends its token to no other server", async () => {
      const before = await stored();
      const location = `https://other.test${vendor.apiPath}/elsewhere/1`;
      far.fault(vendor.repositoryOperation, { kind: "answer", status: 301, words: "Moved", headers: { location } });
      await expect(admin().moveProject({ projectId, repo: "follow" })).rejects.toMatchObject({
        publicMessage: expect.stringContaining("moved to another server"),
      });
      const elsewhere = { projectId, repo: `https://other.test/${vendor.path}` };
      await expect(admin().moveProject(elsewhere)).rejects.toMatchObject({
        publicMessage: expect.stringContaining("another server"),
      });
      expect(await stored()).toEqual(before);
    });
  });
});
