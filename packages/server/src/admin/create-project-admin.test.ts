import { afterAll, expect, it } from "vitest";
import { createSealer } from "../accounts/secrets.ts";
import { loadConfig } from "../config/config.ts";
import type { Pool } from "../db/pool.ts";
import { createForgeReach } from "../installation/forge-reach.ts";
import type { Admin } from "./admin.ts";
import { createProjectAdmin } from "./create-project-admin.ts";

const strict = createForgeReach({ network: {}, allowPrivateForges: false });
afterAll(() => strict.close());

const by = { kind: "user", id: "usr_1", name: "Ada" } as never;

function projectAdminBy(reach: typeof strict) {
  const sealer = createSealer("a secret of at least thirty-two characters");
  const publicUrl = () => "https://emend.acme.test";
  const config = loadConfig({});
  const shared = {
    admin: {} as Admin,
    pool: {} as Pool,
    sealer,
    secret: "s",
    publicUrl,
    reach,
    config,
    local: { forgeDir: "/nowhere" } as never,
  };
  const deps = shared;
  return { projectAdmin: createProjectAdmin(deps) };
}

it("asks no server that only this one can reach for its repositories", async () => {
  const { projectAdmin } = projectAdminBy(strict);
  for (const host of ["http://127.0.0.1:9000", "https://169.254.169.254", "10.0.0.5", "localhost:9000"]) {
    const listed = projectAdmin.listRepositories({ forge: "github", host, credential: "token" }, null);
    await expect(listed).rejects.toThrow("own network");
  }
  for (const host of ["https://me:secret@8.8.8.8", "http://8.8.8.8", "https://8.8.8.8/path", "file:///etc", "a b"]) {
    const begun = projectAdmin.githubApps.begin({ host, organization: null, session: "s" }, by);
    await expect(begun).rejects.toMatchObject({ code: "invalid_request" });
  }
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
