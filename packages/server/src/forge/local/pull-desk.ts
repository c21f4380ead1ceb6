import type { DashboardPull, DashboardPullRow } from "@emend/contract";
import { type Actor, asActor } from "../../db/acting.ts";
import { insertComment, listComments } from "./comments.ts";
import type { LocalForgeDeps } from "./local-forge.ts";
import { type MergeOutcome, mergePullRequest } from "./merge-pull-request.ts";
import { getPullRequest, listPullRows, markClosed, markReady } from "./pull-requests.ts";
import { readPullView } from "./read-pull-view.ts";
import { ask, repositoryOf } from "./repository.ts";
import { showPull } from "./show-pull.ts";

interface PullName {
  projectId: string;
  number: number;
}

/** What people do with the local forge's pull requests, for whoever shows them. Who may do it, the caller has found out. */
export interface PullDesk {
  /** Of one project, or of all: open ones first, newest first. */
  list(projectId: string | null): Promise<readonly DashboardPullRow[]>;
  /** Null: there is none. */
  read(name: PullName): Promise<Omit<DashboardPull, "jobId"> | null>;
  /** A file as the pull request leaves it; null where it has none, or one too large to show. */
  readFile(name: PullName, path: string): Promise<string | null>;
  merge(name: PullName, input: { headExpected: string | null; by: Actor }): Promise<MergeOutcome>;
  /** False: there is none. Closing what is closed changes nothing. */
  close(name: PullName, by: Actor): Promise<boolean>;
  markReady(name: PullName): Promise<boolean>;
  comment(name: PullName, input: { author: string; text: string }): Promise<boolean>;
}

const fileBytesMax = 1024 * 1024;

export function createPullDesk(deps: LocalForgeDeps & { signal: AbortSignal }): PullDesk {
  const db = deps.pool;

  const find = ({ projectId, number }: PullName) => getPullRequest(db, projectId, number);

  return {
    list: (projectId) => listPullRows(db, projectId),

    async read(name) {
      const { projectId, number } = name;
      if (!(await find(name))) return null;
      const repository = repositoryOf(deps, projectId);
      const view = await readPullView({ db, repository }, projectId, number, deps.signal);
      const cloneUrl = `${deps.publicUrl()}/git/${projectId}.git`;
      return view && showPull(view, { projectId, cloneUrl, comments: await listComments(db, projectId, number) });
    },

    async readFile(name, path) {
      const pullRequest = await find(name);
      if (!pullRequest) return null;
      const object = `${pullRequest.headCommit}:${path}`;
      const repository = repositoryOf(deps, name.projectId);
      const size = await ask(repository, ["cat-file", "-s", object], deps.signal);
      if (size.code !== 0 || Number(size.output) > fileBytesMax) return null;
      const file = await ask(repository, ["cat-file", "blob", object], deps.signal);
      return file.code === 0 ? file.output : null;
    },

    async merge(name, { headExpected, by }) {
      if (!(await find(name))) return { kind: "not_found" };
      const repository = repositoryOf(deps, name.projectId);
      return mergePullRequest(
        { db: asActor(deps.pool, by), repository },
        { ...name, headExpected, by: by.name },
        deps.signal,
      );
    },

    async close(name, by) {
      if (!(await find(name))) return false;
      await markClosed(asActor(deps.pool, by), name.projectId, name.number);
      return true;
    },

    async markReady(name) {
      if (!(await find(name))) return false;
      await markReady(db, name.projectId, name.number);
      return true;
    },

    async comment(name, { author, text }) {
      if (!(await find(name))) return false;
      await insertComment(db, { ...name, author, body: text });
      return true;
    },
  };
}
