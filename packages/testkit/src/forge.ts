import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import type { Forge } from "@emend/forges";
import { createGit, type Git } from "@emend/tree";
import fastify from "fastify";
import { authenticateGitKey } from "../../server/src/accounts/keys/keyring.ts";
import { createLocalRepository } from "../../server/src/forge/local/create-repository.ts";
import { openLocalForge } from "../../server/src/forge/local/local-forge.ts";
import { localForgePlugin } from "../../server/src/forge/local/plugin.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { runProgram } from "./run-program.ts";

/** A running local forge: real repositories, rows and git over HTTP. */
export interface TestForge {
  database: TestDatabase;
  git: Git;
  forgeDir: string;
  /** A folder for this test file. */
  dir: string;
  url: string;
  signal: AbortSignal;
  addProject(id: string, importFrom?: string): Promise<Forge>;
  open(projectId: string): Forge;
  /** `key-<scope>-<project>` is a key of that project. */
  keyOf(projectId: string, scope: "read" | "write"): string;
  close(): Promise<void>;
}

export async function startTestForge(options: { basePath?: string } = {}): Promise<TestForge> {
  const database = await createTestDatabase();
  const dir = await mkdtemp(join(tmpdir(), "emend-forge-"));
  const forgeDir = join(dir, "forge");
  const git = createGit({ allowedProtocols: ["file"] });
  const stopping = new AbortController();
  const app = fastify();
  let url = "";
  const local = { git, forgeDir, pool: database.pool, publicUrl: () => url };
  const keyring = {
    authenticate(key: string) {
      const [, scope, projectId] = /^key-(read|write)-(.+)$/.exec(key) ?? [];
      if (!projectId || (scope !== "read" && scope !== "write")) return null;
      return { keyId: `${scope}-${projectId}`, projectIds: new Set([projectId]), scope, isProgram: false } as const;
    },
    throttledAddresses: 0,
    close: async () => {},
  };
  await app.register(
    localForgePlugin({
      ...local,
      signal: stopping.signal,
      log: createLogger({ level: "silent" }),
      authenticateKey: (bearer) => authenticateGitKey(keyring, bearer),
    }),
    { prefix: options.basePath ?? "" },
  );
  url = `${await app.listen({ host: "127.0.0.1", port: 0 })}${options.basePath ?? ""}`;
  const open = (projectId: string) => openLocalForge(local, projectId);

  return {
    database,
    git,
    forgeDir,
    dir,
    url,
    signal: stopping.signal,
    open,
    keyOf: (projectId, scope) => `key-${scope}-${projectId}`,
    async addProject(id, importFrom) {
      await createLocalRepository(
        { git, forgeDir },
        { projectId: id, importFrom: importFrom ?? null },
        stopping.signal,
      );
      await database.pool.query("insert into projects (id, name, forge, repository_url) values ($1, $2, 'local', $3)", [
        id,
        `Docs of ${id}`,
        `${url}/git/${id}.git`,
      ]);
      return open(id);
    },
    async close() {
      stopping.abort();
      await app.close();
      await database.drop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

const author = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
};

/** A person's git. Rejects with git's error message if it fails. */
export async function personGit(cwd: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: cwd, ...author };
  const { stdout } = await runProgram("git", ["-C", cwd, ...args], { env });
  return stdout.trim();
}
