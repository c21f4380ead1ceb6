import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { createGit } from "@emend/tree";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Pool } from "../db/pool.ts";
import { createLocalRepository } from "../forge/local/create-repository.ts";
import { gitOutput, repositoryOf } from "../forge/local/repository.ts";
import { createBackup, restoreBackup } from "./backup.ts";
import { sealOf } from "./manifest.ts";
import { listTables, readLines } from "./tables.ts";

const git = createGit({ allowedProtocols: ["file"] });
const { signal } = new AbortController();
const secret = "a secret of the tests, and of nothing else";
let dir: string;
let source: TestDatabase;
let projectIds: string[];
let count = 0;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-backup-"));
  source = await createTestDatabase();
  projectIds = [await seedProject(source.pool), await seedProject(source.pool)];
  await createLocalRepository(forge("a"), { projectId: projectIds[0] as string, importFrom: await folder() }, signal);
  await createLocalRepository(forge("a"), { projectId: projectIds[1] as string, importFrom: null }, signal);
  const repository = repositoryOf(forge("a"), projectIds[0] as string);
  await gitOutput(repository, ["update-ref", "refs/pull/1/head", "HEAD"], signal);
  await fill(source.pool, projectIds[0] as string);
});
afterAll(async () => {
  await source.drop();
  await rm(dir, { recursive: true, force: true });
});

const forge = (name: string) => ({ git, forgeDir: join(dir, `forge-${name}`) });
const deps = (database: TestDatabase, name: string) => ({ pool: database.pool, secret, forge: forge(name) });

async function folder(): Promise<string> {
  const path = await mkdtemp(join(dir, "docs-"));
  await writeFile(join(path, "page.mdx"), "# Page\n");
  return path;
}

/** Rows with values that are easily lost in a backup. */
async function fill(pool: Pool, projectId: string): Promise<void> {
  for (let number = 0; number < 130; number += 1)
    await seedJob(pool, projectId, `Überschrift 🎈 \\n "${number}"\n\t\r\u2028\u2029`);
  await pool.query(
    "update jobs set diff = $1, usage = $2, max_cost_usd = 0.1 + 0.2, created_at = '2026-01-02 03:04:05.678901+00'",
    [deflateSync(Buffer.from([0, 255, 10, 13])), { costUsd: 1.1e-7, big: "12345678901234567890" }],
  );
  await pool.query(
    "insert into webhooks (id, project_id, url, secret, events) values ('whk', $1, 'https://x.test', '\\x00ff5c', $2)",
    [projectId, ["a,b", 'c"d', "e\\f"]],
  );
  await pool.query("update jobs set status = 'failed' where id = (select min(id) from jobs)");
  await pool.query("update webhooks set events = events || '{job.question}'");
  await pool.query(
    `insert into job_questions (job_id, step, question, answer_until) select min(id), 1, 'Which?', now() from jobs;
     insert into job_interjections (job_id, prompt, created_by) select min(id), 'This one.', 'test' from jobs`,
  );
  const automation = await seedAutomation(pool, projectId, { prompt: "Für {{date}}\n" });
  await pool.query("insert into automation_refs values ($1, 'refs/tags/v1', 'abc')", [automation.id]);
  await pool.query(
    `insert into automation_runs (automation_id, event, values, words, content_hash, job_id)
     select $1, 'one', '{"commits": ["\\u00fc"]}', 'Waits.', '\\x00ff', min(id) from jobs`,
    [automation.id],
  );
}

async function contents(pool: Pool): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const { name } of await listTables(pool)) {
    const { rows } = await pool.query(`select md5(string_agg(r::text, '|' order by r::text)) as md5 from ${name} r`);
    digests[name] = rows[0].md5;
  }
  return digests;
}

async function backup(): Promise<string> {
  count += 1;
  const path = join(dir, `archive-${count}`);
  await createBackup(deps(source, "a"), path, signal);
  return path;
}

test("an installation comes back as it was, with every row, byte, branch and pull request's head", async () => {
  const path = await backup();
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  const target = await createTestDatabase();
  const manifest = await restoreBackup(deps(target, "b"), path, signal);
  expect(manifest.tables.find(({ name }) => name === "jobs")?.rows).toBe(130);
  expect(await contents(target.pool)).toEqual(await contents(source.pool));
  // Numbers continue.
  const ask =
    "insert into job_questions (job_id, step, question, answer_until) select min(id), 2, 'And?', now() from jobs";
  expect((await target.pool.query(ask)).rowCount).toBe(1);
  const refs = async (name: string) =>
    gitOutput(repositoryOf(forge(name), projectIds[0] as string), ["for-each-ref"], signal);
  expect(await refs("b")).toBe(await refs("a"));
  expect(await refs("b")).toContain("refs/pull/1/head");
  const head = await gitOutput(repositoryOf(forge("b"), projectIds[1] as string), ["symbolic-ref", "HEAD"], signal);
  expect(head).toBe("refs/heads/main");
  await target.drop();
});

test("a row is read by its line feed alone, across chunks, and one without end is refused", async () => {
  async function* chunks(...texts: string[]) {
    for (const text of texts) yield Buffer.from(text);
  }
  async function read(...texts: string[]) {
    const lines: string[] = [];
    const options = { file: "tables/x.jsonl.gz", lineBytesMax: 8 };
    for await (const line of readLines(chunks(...texts), options)) lines.push(line);
    return lines;
  }
  expect(await read('"a\u2028\rb"', "\n", '"c', '"\n"d"\n"e"')).toEqual(['"a\u2028\rb"', '"c"', '"d"', '"e"']);
  await expect(read("12345", "6789")).rejects.toThrow(/tables\/x.jsonl.gz holds a row of more than 8 bytes/);
});

test("tables are all of one moment, whatever is written meanwhile", async () => {
  const path = join(dir, "moment");
  let isWritten = false;
  const busy = {
    ...deps(source, "a"),
    pool: new Proxy(source.pool, {
      get(pool, name) {
        if (name !== "connect") return Reflect.get(pool, name).bind?.(pool) ?? Reflect.get(pool, name);
        return async () => {
          const client = await pool.connect();
          const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
          client.query = (async (...args: unknown[]) => {
            const result = await query(...args);
            const text = typeof args[0] === "string" ? args[0] : (args[0] as { text: string }).text;
            if (text.includes("from migrations") && !isWritten) {
              isWritten = true;
              await seedJob(pool, projectIds[0] as string, "late");
            }
            return result;
          }) as typeof client.query;
          return client;
        };
      },
    }),
  };
  const manifest = await createBackup(busy, path, signal);
  expect(isWritten).toBe(true);
  expect(manifest.tables.find(({ name }) => name === "jobs")?.rows).toBe(130);
  await source.pool.query("delete from jobs where prompt = 'late'");
});

test("a restore whose commit fails leaves nothing behind, and can be repeated", async () => {
  const path = await backup();
  const target = await createTestDatabase();
  await target.pool.query(
    `create function no() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$`,
  );
  await target.pool.query(`create constraint trigger no after insert on projects deferrable initially deferred
    for each row execute function no()`);
  await expect(restoreBackup(deps(target, "d"), path, signal)).rejects.toThrow(/disk full/);
  await target.pool.query("drop trigger no on projects");
  await restoreBackup(deps(target, "d"), path, signal);
  expect(await contents(target.pool)).toEqual(await contents(source.pool));
  await target.drop();
});

test("what is not empty, altered, cut off, newer, or sealed by another secret is refused, and nothing changes", async () => {
  const target = await createTestDatabase();
  const before = await contents(target.pool);
  const refuse = (path: string, words: RegExp, given = {}) =>
    expect(restoreBackup({ ...deps(target, "c"), ...given }, path, signal)).rejects.toThrow(words);

  await expect(restoreBackup(deps(source, "c"), await backup(), signal)).rejects.toThrow(/is not empty/);
  const altered = await backup();
  await appendFile(join(altered, "tables/jobs.jsonl.gz"), "x");
  await refuse(altered, /not as it was written/);
  const missing = await backup();
  await rm(join(missing, `repositories/${projectIds[0]}.bundle`));
  await refuse(missing, /is missing/);
  const sealed = await backup();
  await refuse(sealed, /another EMEND_SECRET/, { secret: "another secret, as long as the first one" });
  const newer = await backup();
  const manifest = JSON.parse(await readFile(join(newer, "manifest.json"), "utf8"));
  const write = async (changes: object, by = secret) => {
    const { seal: _, ...changed } = { ...manifest, ...changes };
    const text = JSON.stringify({ ...changed, seal: sealOf(by, changed) });
    await writeFile(join(newer, "manifest.json"), text);
  };
  await write({ migrations: [...manifest.migrations, "9999-later.sql"] });
  await refuse(newer, /newer Emend/);
  await write({ format: 2 });
  await refuse(newer, /does not know/);
  await write({ tables: [{ ...manifest.tables[0], file: "../../etc/passwd" }] });
  await refuse(newer, /not a file of a backup/);
  await refuse(join(dir, "nothing"), /not an Emend backup/);
  const victim = join(dir, "victim");
  await mkdir(victim);
  const elsewhere = { ...manifest.repositories[0], projectId: "x/../../victim", bundle: null };
  await write({ repositories: [elsewhere] });
  await refuse(newer, /Project not found/);
  await write({ repositories: [elsewhere] }, "a secret of somebody else's, long enough");
  await refuse(newer, /manifest.json is not as it was written/);
  expect((await stat(victim)).isDirectory()).toBe(true);
  await expect(createBackup(deps(source, "a"), sealed, signal)).rejects.toThrow(/exists already/);
  for (const nowhere of [join(dir, "nothing", "deeper"), "/proc/backup"]) {
    await expect(createBackup(deps(source, "a"), nowhere, signal)).rejects.toThrow(/no folder can be made in/);
  }
  expect(await contents(target.pool)).toEqual(before);
  await target.drop();
});
