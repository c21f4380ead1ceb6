import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import type { CommitStatus, Forge } from "@emend/forges";
import { createMirrors } from "@emend/tree";
import { listContextRepositories } from "../../server/src/accounts/projects/context-repositories.ts";
import { getProject } from "../../server/src/accounts/projects/projects.ts";
import type { AppError } from "../../server/src/errors.ts";
import { type GateStatus, listPolls, listStatuses } from "../../server/src/gate/gate-store.ts";
import { type GateDeps, pollGate } from "../../server/src/gate/poll-gate.ts";
import { localProjectOf } from "../../server/src/installation/forge-reach.ts";
import { personGit, startTestForge } from "./forge.ts";

type Files = Readonly<Record<string, string>>;

/** The project of the docs, and the one that hosts their source. */
export const docs = "prj_docs";
export const codeProject = "prj_code";

export const cli = (flag: string) =>
  `export const options = [{ flag: "${flag}", words: "Where to write" }, { flag: "--watch" }];\n`;
const usual = {
  docs: {
    "index.md": "# Home\n\n[Guide](guide.md)\n",
    "guide.md": "# Guide\n",
    "run.md": "# Run\n\nWrite to a file with `--out-file`.\n",
    "mode.md": "# Mode\n\nChoose `deepMode`.\n",
  },
  code: { "src/cli.ts": cli("--out-file"), "src/mode.ts": 'type Mode = "deepMode" | "flat";\n' },
};

/** A local forge with docs and their source `ctx_code`, people's clones of both, and a gate that polls them. */
export async function openGateBench(files: { docs: Files; code: Files } = usual) {
  const host = await startTestForge();
  const { pool } = host.database;
  const log = createLogger({ level: "silent" });
  const mirrors = createMirrors({ dir: join(host.dir, "mirrors"), git: host.git, log });
  const work = join(host.dir, "docs");
  const code = join(host.dir, "code");
  await commitAll(work, files.docs);
  await host.addProject(docs, work);
  await commitAll(code, files.code);
  await host.addProject(codeProject, code);
  await pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     select 'ctx_code', $1, 'code', 'local', repository_url from projects where id = $2`,
    [docs, codeProject],
  );

  async function commitAll(dir: string, content: Files): Promise<void> {
    await mkdir(dir, { recursive: true });
    await personGit(dir, "init", "--quiet", "--initial-branch=main");
    await write(dir, content);
  }

  async function write(dir: string, content: Files): Promise<string> {
    for (const [path, text] of Object.entries(content)) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    }
    await personGit(dir, "add", "--all");
    await personGit(dir, "commit", "--quiet", "--message=Change");
    return personGit(dir, "rev-parse", "HEAD");
  }

  async function push(projectId: string, dir: string, branch: string): Promise<void> {
    await personGit(dir, "push", "--quiet", "--force", join(host.forgeDir, `${projectId}.git`), branch);
  }

  /** Pushes a person's branch and opens a pull request. Returns the head commit. */
  async function openPull(projectId: string, dir: string, branch: string, content: Files) {
    await personGit(dir, "switch", "--quiet", "--force-create", branch, "main");
    const head = await write(dir, content);
    await push(projectId, dir, branch);
    const draft = { head: branch, base: "main", title: "A change", body: "", draft: false, checks: [] };
    const created = await host.open(projectId).createPullRequest(draft, host.signal);
    if (created.kind !== "created") throw new Error(created.kind);
    return { head, number: created.pullRequest.number };
  }

  function depsOf(more: Partial<GateDeps> = {}): GateDeps {
    return {
      pool,
      log,
      mirrors,
      siteCache: new Map<string, string>(),
      indexes: new Map(),
      startDocsJob: async () => {},
      openReader: async () => null,
      publicUrl: () => "https://emend.test",
      findProject: (id) => getProject(pool, id),
      listContext: (projectId) => listContextRepositories(pool, projectId),
      contextRemote: async (id) => host.open(id === "ctx_code" ? codeProject : "prj_other").gitRemote(host.signal),
      openForge: async (project) => host.open(project.id),
      openContextForge: async ({ repositoryUrl }) => host.open(localProjectOf(repositoryUrl)),
      ...more,
    };
  }

  return {
    host,
    mirrors,
    work,
    code,
    commitAll,
    write,
    push,
    openPull,
    depsOf,
    look: (more: Partial<GateDeps> = {}) => pollGate(depsOf(more), docs, host.signal),
    /** The local forge. Records each status, or refuses it. */
    listening(projectId: string, refuse?: () => AppError | null) {
      const told: CommitStatus[] = [];
      const forge = host.open(projectId);
      const openForge = async (): Promise<Forge> => ({
        ...forge,
        async setStatus(status, signal) {
          const refusal = refuse?.();
          if (refusal) throw refusal;
          told.push(status);
          return forge.setStatus(status, signal);
        },
      });
      return { told, openForge };
    },
    set: (gate: object) => pool.query("update projects set settings = $2 where id = $1", [docs, { gate }]),
    problemOf: async (contextId: string | null) =>
      (await listPolls(pool, docs)).find((one) => one.contextId === contextId)?.problem,
    async onlyStatus(): Promise<GateStatus> {
      const [status, ...others] = await listStatuses(pool, docs);
      if (!status || others.length > 0) throw new Error(`${status ? others.length + 1 : 0} statuses, not 1`);
      return status;
    },
    rename: () => openPull(codeProject, code, "topic/rename", { "src/cli.ts": cli("--output-file") }),
    /** No open pull requests, statuses or settings. */
    async reset(): Promise<void> {
      await pool.query("update local_pull_requests set state = 'closed'");
      await pool.query("delete from gate_statuses");
      await pool.query("delete from gate_looks");
      await pool.query("update projects set settings = '{}'");
    },
    async close(): Promise<void> {
      await mirrors.close();
      await host.close();
    },
  };
}

export type GateBench = Awaited<ReturnType<typeof openGateBench>>;
