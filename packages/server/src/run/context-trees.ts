import type { ContextTrees, Source } from "../agent/agent.ts";
import { AppError } from "../errors.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { PinnedContext } from "../jobs/record-context.ts";
import type { Mirrors, Remote } from "../tree/mirror.ts";
import type { Tree } from "../tree/tree.ts";

/** A context repository of the job's project. */
export interface ContextSource {
  /** Names its mirror too. */
  id: string;
  name: string;
  forge: string;
  repositoryUrl: string;
  baseRef: string | null;
  remote(signal: AbortSignal): Promise<Remote>;
}

export interface PinnedTrees extends ContextTrees {
  /** Where a source was read; undefined: in the project's own repository. */
  pinned(source: Source): Omit<PinnedContext, "name" | "ref"> | undefined;
}

/**
 * Each repository is fetched when the agent first looks at it, into a mirror of its own, and pinned there for the job.
 * The commit is stored before anything of it is read, so that a run on another node reads the same.
 */
export function openContextTrees(
  deps: { mirrors: Mirrors; saveContext(pinned: PinnedContext): Promise<void> },
  job: LeasedJob,
  repositories: readonly ContextSource[],
): PinnedTrees {
  const pins = new Map(job.context.map((pinned) => [pinned.name, pinned]));
  const opened = new Map<string, Promise<Tree>>();

  async function open(name: string, signal: AbortSignal): Promise<Tree> {
    const repository = repositories.find((one) => one.name === name);
    if (!repository) {
      throw new AppError("repository_unavailable", { publicMessage: "The project no longer has this repository." });
    }
    const { forge, repositoryUrl, baseRef } = repository;
    const mirror = await deps.mirrors.open(repository.id);
    const remote = await repository.remote(signal);
    const earlier = pins.get(name);
    // Another repository may have taken the name since.
    if (earlier?.repositoryUrl === repositoryUrl) {
      await mirror.ensureBase({ remote, jobId: job.id, commit: earlier.commit }, signal);
      return mirror.treeAt(earlier.commit);
    }
    const { commit, ref } = await mirror.fetchBase({ remote, jobId: job.id, baseRef }, signal);
    const pinned = { name, forge, repositoryUrl, ref, commit };
    await deps.saveContext(pinned);
    pins.set(name, pinned);
    return mirror.treeAt(commit);
  }

  return {
    names: repositories.map(({ name }) => name),
    open(name, signal) {
      const known = opened.get(name);
      if (known) return known;
      const opening = open(name, signal);
      opened.set(name, opening);
      // What failed is tried again when it is asked for again.
      opening.catch(() => opened.delete(name));
      return opening;
    },
    pinned({ repository }) {
      const pinned = repository === null ? undefined : pins.get(repository);
      return pinned && { repositoryUrl: pinned.repositoryUrl, forge: pinned.forge, commit: pinned.commit };
    },
  };
}
