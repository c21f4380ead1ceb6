import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { type FarEnd, startFarEnd } from "../../test/support/forges/far-end.ts";
import { vendors } from "../../test/support/forges/vendors.ts";
import { openProjectCredential } from "../accounts/projects/project-credential.ts";
import { createSealer } from "../accounts/secrets.ts";
import { loadConfig } from "../config/config.ts";
import { createAdmin } from "./admin.ts";

const dir = mkdtempSync(join(tmpdir(), "emend-move-"));
const secret = "s".repeat(40);
const config = loadConfig({ EMEND_LOG_LEVEL: "silent" }, { dataDir: dir });
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
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
