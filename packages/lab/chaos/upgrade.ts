import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { sourcesOf } from "../../../scripts/source-copy.ts";
import type { Pool } from "../../server/src/db/pool.ts";
import { type Experiment, scaled } from "./experiment.ts";
import type { History } from "./judge.ts";
import { postJob, untilAllEnded } from "./post-job.ts";
import { chaosPrompt, runCommand, type ServeProcess, startServe } from "./serve-process.ts";

const otherPrompt = 'Replace "access key" with "API token".';

export const upgrade: Experiment = {
  name: "upgrade",
  claim:
    "a node of the release before works, a new one joins and migrates, both take and run jobs, the old one leaves: none lost, none twice",
  async run(setting) {
    const { pool, url, history } = setting;
    const { copy, commit } = sourcesOf(setting.from);
    console.log(`  from ${commit.slice(0, 10)}`);
    const dir = await mkdtemp(join(tmpdir(), "emend-upgrade-"));
    const nodes: ServeProcess[] = [];
    try {
      // The release before makes its own schema.
      await pool.query("drop schema public cascade; create schema public");
      const env = {
        EMEND_DATABASE_URL: url,
        EMEND_SECRET: "the secret of an experiment, and of nothing else",
        EMEND_DATA_DIR: join(dir, "data"),
        EMEND_FORGE_DIR: join(dir, "forge"),
      };
      const target = { ports: [] as number[], ...(await addProject(copy, dir, env)) };
      let posted = 0;
      const post = async (count: number) => {
        const prompts = [chaosPrompt, otherPrompt];
        const each = async () => {
          posted += 1;
          const n = posted;
          const ports = n % 2 === 0 ? target.ports : target.ports.toReversed();
          await postJob(() => ({ ...target, ports }), prompts[n % 2] ?? "", `post ${n}`, history);
        };
        for (let left = count; left > 0; left -= 4) await Promise.all(Array.from({ length: Math.min(4, left) }, each));
      };
      const old = await startServe(env, copy);
      nodes.push(old);
      target.ports = [old.port];
      await post(scaled(40, setting));
      const [fresh] = await Promise.all([startServe(env), post(scaled(20, setting))]);
      nodes.push(fresh);
      history.add({ kind: "fault", what: "a new node migrated the database" });
      target.ports = [old.port, fresh.port];
      await post(scaled(80, setting));
      target.ports = [fresh.port];
      const [{ code }] = await Promise.all([old.stop(), post(scaled(20, setting))]);
      nodes.shift();
      history.add({ kind: "fault", what: "the old node left" });
      if (code !== 0) history.add({ kind: "unexpected", what: `the old node ended with ${code}` });
      await untilAllEnded(pool);
      history.add({ kind: "expected", jobs: posted });
      await countPulls(pool, history);
      await createFarEnds(pool);
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
      await rm(dir, { recursive: true, force: true });
      await rm(copy, { recursive: true, force: true });
    }
  },
};

/** By the old release's own commands: ours would migrate the database. */
async function addProject(
  copy: string,
  dir: string,
  env: Record<string, string>,
): Promise<{ projectId: string; key: string }> {
  const docs = join(dir, "docs");
  await mkdir(docs);
  await writeFile(join(docs, "index.md"), "# Docs\n\nAn API token opens the door. An access key does too.\n");
  const project = await runCommand(copy, ["project", "add", "Docs", "--forge", "local", "--repo", docs, "--json"], env);
  const { id } = JSON.parse(project) as { id: string };
  const settings = ["createsPerHourMax=1000000", "lanes=8"];
  await runCommand(copy, ["project", "settings", id, ...settings], env);
  const { key } = JSON.parse(await runCommand(copy, ["key", "create", "--project", id, "--json"], env)) as {
    key: string;
  };
  return { projectId: id, key };
}

async function countPulls(pool: Pool, history: History): Promise<void> {
  const { rows } = await pool.query<{ twice: number; without: number; done: number }>(
    `select (select count(*)::int from (select from local_pull_requests group by head_ref having count(*) > 1) two) as twice,
       (select count(*)::int from jobs where pr_link is null and status = 'completed' and summary is null) as without,
       (select count(*)::int from local_pull_requests) as done`,
  );
  const { twice = 0, without = 0, done = 0 } = rows[0] ?? {};
  if (twice > 0) history.add({ kind: "unexpected", what: `${twice} branches have two pull requests` });
  if (without > 0) history.add({ kind: "unexpected", what: `${without} jobs ended without a result` });
  history.add({ kind: "measured", what: "pull requests", value: done, unit: "" });
}
