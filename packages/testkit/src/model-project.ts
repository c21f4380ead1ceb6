import { join } from "node:path";
import { afterEach, vi } from "vitest";
import { type FarModel, protocols, startFarModel } from "./far-model.ts";
import { runProgram } from "./run-program.ts";
import { clientOf, createInstallation, type Installation } from "./whole-server.ts";

/** A whole server with a mock model and a project on the local forge, and helpers to inspect them. */
export function useModelProject() {
  // Whole servers, some killed and restarted: slow on a busy machine.
  vi.setConfig({ testTimeout: 120_000 });
  let far: FarModel;
  let installation: Installation;
  afterEach(async () => {
    await installation.remove();
    await far.stop();
  });

  async function install(
    script: Parameters<typeof startFarModel>[0],
    project: { docs: Readonly<Record<string, string>>; settings?: Record<string, unknown> },
    environment: Record<string, string> = {},
  ) {
    far = await startFarModel(script);
    installation = await createInstallation({ ...far.environment, EMEND_MODEL: protocols[0], ...environment });
    const server = await installation.start();
    const repo = await installation.makeDocs(project.docs);
    const settings = { models: [...protocols], ...project.settings };
    const added = await server.admin.addProject({ name: "Docs", forge: "local", repo, settings });
    const { key } = await server.admin.createKey({ projectIds: [added.id], name: "test", scope: "write" });
    return { far, installation, server, project: added, key, client: clientOf(server, added.id, key) };
  }

  const gitDirOf = (projectId: string) => join(installation.forgeDir, `${projectId}.git`);
  async function git(projectId: string, ...args: string[]): Promise<string> {
    const author = ["-c", "user.name=A person", "-c", "user.email=person@example.com", "-c", "safe.bareRepository=all"];
    const { stdout } = await runProgram("git", ["--git-dir", gitDirOf(projectId), ...author, ...args]);
    return stdout.trim();
  }

  /** A person's commit on a branch. */
  async function commitByPerson(projectId: string, branch: string, path: string, text: string): Promise<string> {
    const stream = [
      `commit refs/heads/${branch}`,
      "committer A person <person@example.com> 1700000000 +0000",
      "data 6\nPerson",
      `from ${await git(projectId, "rev-parse", branch)}`,
      `M 100644 inline ${path}`,
      `data ${Buffer.byteLength(text)}\n${text}`,
      "",
    ].join("\n");
    await runProgram("git", ["--git-dir", gitDirOf(projectId), "fast-import", "--quiet"], { input: stream });
    return git(projectId, "rev-parse", branch);
  }

  /** The newest pull request of a project. */
  async function pullOf(projectId: string): Promise<{ title: string; body: string; checks: unknown } | undefined> {
    const { rows } = await installation.database.pool.query(
      "select title, body, checks from local_pull_requests where project_id = $1 order by number desc",
      [projectId],
    );
    return rows[0];
  }
  const query = async (sql: string) => (await installation.database.pool.query(sql)).rows;
  return { install, git, commitByPerson, pullOf, query };
}
