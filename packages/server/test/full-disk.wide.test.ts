// Costly: a disk is full for a whole server with its database.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { hasNamespaces, type SmallDiskServer, startOnSmallDisk } from "@emend/testkit/small-disk.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import { isFinal, waitForJob } from "@emend/testkit/worker-control.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openAdmin } from "../src/admin/open-admin.ts";
import { loadConfig } from "../src/config/config.ts";

describe.skipIf(!hasNamespaces)("a full disk (Linux)", () => {
  let database: TestDatabase;
  let dir: string;
  let server: SmallDiskServer;
  let client: ReturnType<typeof clientOf>;

  beforeEach(async () => {
    database = await createTestDatabase();
    dir = await mkdtemp(join(tmpdir(), "emend-full-disk-"));
    const env = {
      EMEND_DATABASE_URL: database.url,
      EMEND_SECRET: "the secret of a test, and of nothing else",
      EMEND_DATA_DIR: join(dir, "data"),
      EMEND_FORGE_DIR: join(dir, "forge"),
      EMEND_LOG_LEVEL: "silent",
      // Nothing is held back: the jobs below must meet the full disk themselves.
      EMEND_DISK_RESERVE_MB: "0",
    };
    server = await startOnSmallDisk(env);
    await writeFile(join(dir, "index.md"), "# Docs\n\nAn API token opens the door.\n");
    // A change of it takes more than a few pages of the disk.
    await writeFile(join(dir, "large.md"), `# Large\n\nA wide term.\n\n${randomBytes(200_000).toString("hex")}\n`);
    const admin = await openAdmin(loadConfig(env));
    const project = await admin.addProject({ name: "Docs", forge: "local", repo: dir });
    const { key } = await admin.createKey({ projectIds: [project.id], name: "test", scope: "write" });
    await admin.close();
    client = clientOf(server, project.id, key);
  });
  afterEach(async () => {
    await server.stop();
    await database.drop();
    await rm(dir, { recursive: true, force: true });
  });

  const prompt = 'Replace "API token" with "access key".';

  test.each([
    ["before there is a mirror", []],
    ["when its mirror stands", [prompt]],
  ])("a job that meets a full disk %s waits in words, and ends well once there is room", async (_when, earlier) => {
    for (const first of earlier) await client.untilFinal((await client.create({ prompt: first })).id);
    await server.fill();
    const { id } = await client.create({ prompt });
    await untilItWaits(id);

    await server.free();
    await database.pool.query("update jobs set run_after = now() where id = $1", [id]);
    const ended = await waitForJob(database.pool, id, isFinal);
    expect(ended).toMatchObject({ status: "completed", crashes: 0, pr_link: expect.stringContaining("/pull") });
  });

  /** It is neither a crash nor a try of the job, and its page says why. Returns how many steps are stored. */
  async function untilItWaits(id: string): Promise<number> {
    const waiting = await waitForJob(database.pool, id, (row) => row.waiting_since !== null && row.lease === null);
    expect(waiting).toMatchObject({ status: "active", crashes: 0, retries: 0 });
    const run = await client.run(id);
    expect(run.waiting).toMatchObject({ for: "disk", message: "The disk of this machine is full (ENOSPC)." });
    return run.steps.count;
  }

  test("a disk that is full at commit time costs no turn and no try", async () => {
    await client.untilFinal((await client.create({ prompt })).id);
    // Enough for a lock and a ref, not for the commit of a large page.
    await server.fill(96 * 1024);
    const { id } = await client.create({ prompt: 'Replace "wide term" with "narrow term".' });
    const steps = await untilItWaits(id);
    expect(steps).toBeGreaterThan(0);
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(503);

    await server.free();
    await database.pool.query("update jobs set run_after = now() where id = $1", [id]);
    const ended = await waitForJob(database.pool, id, isFinal);
    expect(ended).toMatchObject({ status: "completed", crashes: 0, retries: 0, pr_link: expect.any(String) });
    expect((await client.run(id)).steps.count).toBe(steps);
  });

  test("503 while the database's disk is full, and no partial writes", async () => {
    // Postgres' own error for a write to a full disk.
    await database.pool.query(`
    create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
    create trigger no_room before insert on jobs execute function no_room()`);
    expect(await client.send("/job", { prompt })).toMatchObject({ status: 503 });
    expect((await database.pool.query("select used_at from quota_uses")).rows).toEqual([]);
    await database.pool.query("drop trigger no_room on jobs");
    expect((await client.create({ prompt })).status).toBe("active");
  });
});
