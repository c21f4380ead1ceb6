import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { addProject, plainFolder } from "../accounts/projects/add-project.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Config } from "../config/config.ts";
import type { Queryable } from "../db/pool.ts";
import { assertLocalForgeUsable } from "../forge/local/assert-usable.ts";
import { createLocalRepository } from "../forge/local/create-repository.ts";
import { newId } from "../lib/id.ts";
import type { Git } from "../tree/git/git.ts";
import { assertBranch, assertFolder } from "../tree/mirror/resolve-base.ts";
import type { ConnectedProject } from "./connect-project.ts";

interface LocalProjectDeps {
  config: Config;
  db: Queryable;
  sealer: Sealer;
  git: Git;
  forgeDir: string;
  publicUrl(): Promise<string>;
}

interface NewLocalProject {
  name: string;
  /** A git repository or a plain folder to import. If absent, the repository starts empty. */
  repo?: string;
  base?: string;
  docsDir?: string;
  settings?: Readonly<Record<string, unknown>>;
}

const importMsMax = 10 * 60_000;

/** Adds a project whose repository Emend hosts. If the project is refused, its new repository is deleted again. */
export async function addLocalProject(deps: LocalProjectDeps, input: NewLocalProject): Promise<ConnectedProject> {
  assertLocalForgeUsable(deps.config);
  const id = newId("prj");
  const repository = join(deps.forgeDir, `${id}.git`);
  const signal = AbortSignal.timeout(importMsMax);
  await createLocalRepository(deps, { projectId: id, importFrom: input.repo ?? null }, signal);
  try {
    // An empty repository has no branch until its first push.
    if (input.repo) {
      const remote = { url: pathToFileURL(repository).href, authorization: null };
      if (input.base) await assertBranch(deps.git, remote, input.base, signal);
      const folder = plainFolder(input.docsDir ?? "");
      await assertFolder(deps.git, { remote, baseRef: input.base ?? null, folder }, signal);
    }
    const { repositoryUrl } = await addProject(deps, {
      id,
      name: input.name,
      forge: "local",
      repositoryUrl: `${await deps.publicUrl()}/git/${id}.git`,
      baseRef: input.base ?? null,
      docsDir: input.docsDir ?? "",
      settings: input.settings,
    });
    return { id, repositoryUrl };
  } catch (error) {
    await rm(repository, { recursive: true, force: true });
    throw error;
  }
}
