import type { ForgeCommits } from "../forge/forge.ts";
import { authorOf, commitMessage } from "./commit-message.ts";
import type { CommitIds, PublishDeps, PublishInput } from "./publication.ts";
import { pauseAfterUnclear } from "./retry.ts";
import { sendEffect } from "./send-effect.ts";

/**
 * Builds the commit and stores its ids before any branch points to it. A later run builds it anew, perhaps on a node
 * whose mirror never held it, and gets the same ids: everything in the commit comes from the job.
 */
export async function commitChange(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<CommitIds> {
  deps.crashPoint("before-commit");
  const message = commitMessage(input);
  const built = await deps.mirror.commit(
    {
      jobId: input.job.id,
      base: input.base.commit,
      entries: input.entries,
      message,
      author: authorOf(input.commit),
      date: input.job.createdAt,
    },
    signal,
  );
  const { commits } = deps.forge;
  const ids = commits ? await commitThere(deps, commits, { ...input, ...built, message }, signal) : built;
  deps.crashPoint("after-commit");
  if (input.stored === null) await deps.store.saveCommit(ids);
  deps.crashPoint("after-commit-stored");
  return ids;
}

/** Made by the forge, a commit has another id each time: the stored one counts, and those before it are nobody's. */
async function commitThere(
  deps: PublishDeps,
  commits: ForgeCommits,
  input: PublishInput & { treeId: string; message: string },
  signal: AbortSignal,
): Promise<CommitIds> {
  if (input.stored) return input.stored;
  const { treeId, message, entries } = input;
  const commit = { base: input.base.commit, treeId, message, entries };
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendEffect(deps, (request) => commits.create(commit, request), signal);
    if (answer.kind === "answered") return { treeId, commitId: answer.value };
    await pauseAfterUnclear(attempt, answer.error, signal);
  }
}
