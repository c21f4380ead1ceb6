import { afterAll, describe, expect, it } from "vitest";
import { createSealer } from "../accounts/secrets.ts";
import { loadConfig } from "../config/config.ts";
import type { Pool } from "../db/pool.ts";
import { createForgeReach } from "../installation/forge-reach.ts";
import type { Admin } from "./admin.ts";
import { createProjectAdmin } from "./create-project-admin.ts";

const strict = createForgeReach({ network: {}, allowPrivateForges: false });
const open = createForgeReach({ network: {}, allowPrivateForges: true });
afterAll(() => Promise.all([strict.close(), open.close()]));

const by = { kind: "user", id: "usr_1", name: "Ada" } as never;
const input = { name: "Docs", credential: "token" };

/** A fake of the console's actions. It is called only for requests that were allowed. */
function projectAdminBy(reach: typeof strict) {
  const added: unknown[] = [];
  const admin = {
    async addProject(project: unknown) {
      added.push(project);
      return { id: "prj_1", repositoryUrl: "" };
    },
  } as unknown as Admin;
  const sealer = createSealer("a secret of at least thirty-two characters");
  const fetch = () => Promise.reject(new Error("this test has no network"));
  const publicUrl = () => "https://emend.acme.test";
  const config = loadConfig({});
  const shared = {
    admin,
    pool: {} as Pool,
    sealer,
    secret: "s",
    publicUrl,
    fetch,
    reach,
    config,
    local: { forgeDir: "/nowhere" } as never,
  };
  const deps = { ...shared, allowPrivateWebhooks: false };
  return { projectAdmin: createProjectAdmin(deps), added };
}

describe("adding a project in the browser", () => {
  it.each([
    ["gitlab", "http://127.0.0.1:8080/acme/docs"],
    ["gitea", "http://[::1]/acme/docs"],
    ["gitea", "https://10.0.0.5/acme/docs"],
    ["github", "https://169.254.169.254/acme/docs"],
  ])("on %s refuses %s, which only this server can reach", async (forge, repo) => {
    const { projectAdmin, added } = projectAdminBy(strict);
    await expect(projectAdmin.add({ ...input, forge, repo }, by)).rejects.toMatchObject({
      code: "invalid_request",
      publicMessage: expect.stringContaining("EMEND_ALLOW_PRIVATE_FORGES"),
    });
    expect(added).toEqual([]);
  });

  it("refuses such an API behind a public repository", async () => {
    const { projectAdmin, added } = projectAdminBy(strict);
    const settings = { forge: { apiUrl: "http://127.0.0.1:9000/api/v3" } };
    const repo = "https://8.8.8.8/acme/docs";
    await expect(projectAdmin.add({ ...input, forge: "github", repo, settings }, by)).rejects.toThrow("own network");
    await expect(projectAdmin.assertReachable("http://127.0.0.1:9000/api/v3")).rejects.toThrow("own network");
    expect(added).toEqual([]);
  });

  it("asks no such server for its repositories, and creates no App there", async () => {
    const { projectAdmin } = projectAdminBy(strict);
    for (const host of ["http://127.0.0.1:9000", "https://169.254.169.254", "https://10.0.0.5"]) {
      const listed = projectAdmin.listRepositories({ forge: "github", host, credential: "token" }, null);
      await expect(listed).rejects.toThrow("own network");
      const begun = projectAdmin.githubApps.begin({ host, organization: null, session: "s" }, by);
      await expect(begun).rejects.toThrow("own network");
    }
    for (const host of ["https://me:secret@8.8.8.8", "http://8.8.8.8", "https://8.8.8.8/path", "file:///etc", "a b"]) {
      const begun = projectAdmin.githubApps.begin({ host, organization: null, session: "s" }, by);
      await expect(begun).rejects.toMatchObject({ code: "invalid_request" });
    }
  });

  it("adds nothing where the address could not be judged", async () => {
    const addressesOf = () => Promise.reject(new Error("a fault of ours"));
    const { projectAdmin, added } = projectAdminBy({ ...strict, addressesOf });
    const repo = "https://8.8.8.8/acme/docs";
    await expect(projectAdmin.add({ ...input, forge: "gitea", repo }, by)).rejects.toThrow("a fault of ours");
    expect(added).toEqual([]);
  });

  it("takes it where the operator allows private forges", async () => {
    const { projectAdmin, added } = projectAdminBy(open);
    await projectAdmin.add({ ...input, forge: "gitea", repo: "http://127.0.0.1:3000/acme/docs" }, by);
    // Every later call is checked too. The person who adds the project cannot turn that off.
    const settings = { draft: true, forge: { labels: ["docs"], isJudged: false } };
    await projectAdmin.add({ ...input, forge: "gitea", repo: "http://127.0.0.1:3000/acme/docs", settings }, by);
    expect(added).toMatchObject([
      { settings: { forge: { isJudged: true } } },
      { settings: { draft: true, forge: { labels: ["docs"], isJudged: true } } },
    ]);
  });
});

it("imports from no address that only this server can reach, and with no password", async () => {
  const { projectAdmin } = projectAdminBy(strict);
  for (const url of ["http://127.0.0.1:9000/a.git", "https://169.254.169.254/a", "http://[::1]/a"]) {
    await expect(projectAdmin.fill("prj_1", { url })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(projectAdmin.fill("prj_1", { url })).rejects.toThrow("own network");
  }
  for (const url of ["file:///etc", "ssh://git@8.8.8.8/a", "https://me:secret@8.8.8.8/a", "ext::sh -c id"]) {
    await expect(projectAdmin.fill("prj_1", { url })).rejects.toThrow("https address of a public repository");
  }
  await expect(projectAdmin.fill("prj_1", { template: "__proto__" })).rejects.toThrow("no template");
});
