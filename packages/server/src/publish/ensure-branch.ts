import { AppError } from "../errors.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { PushOutcome } from "../tree/mirror.ts";
import type { CommitIds, PublishDeps, PublishInput } from "./publication.ts";
import { pauseAfterUnclear } from "./retry.ts";
import { sendEffect } from "./send-effect.ts";

export type BranchOutcome = { kind: "holds"; commitId: string } | { kind: "conflict"; found: string | null };

/** Makes the branch hold the commit, unless it holds anything that is not this job's. */
export async function ensureBranch(
  deps: PublishDeps,
  input: PublishInput,
  ids: CommitIds,
  signal: AbortSignal,
): Promise<BranchOutcome> {
  const { branch } = input.job;
  const { commits } = deps.forge;
  const wanted = { branch, commit: ids.commitId, expected: input.branchExpected };
  const remote = await deps.forge.gitRemote(signal);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendEffect(
      deps,
      (requestSignal) => {
        deps.crashPoint("before-push");
        return commits
          ? commits.setBranch(wanted, requestSignal)
          : deps.mirror.push({ remote, ...wanted }, requestSignal);
      },
      signal,
    );
    deps.crashPoint("after-push");
    if (answer.kind === "answered") {
      const outcome = await settle(deps, input, ids, answer.value);
      if (outcome.kind === "holds") await deps.store.savePush();
      deps.crashPoint("after-push-stored");
      return outcome;
    }
    await pauseAfterUnclear(attempt, answer.error, signal);
  }
}

async function settle(
  deps: PublishDeps,
  input: PublishInput,
  ids: CommitIds,
  outcome: PushOutcome,
): Promise<BranchOutcome> {
  switch (outcome.kind) {
    case "pushed":
      // Only a release that words its commits otherwise makes another commit of a stored job.
      if (input.stored && input.stored.commitId !== ids.commitId) await deps.store.saveCommit(ids);
      return { kind: "holds", commitId: ids.commitId };
    case "conflict": {
      const isOurs = outcome.found !== null && [ids.commitId, input.stored?.commitId].includes(outcome.found);
      return isOurs && outcome.found
        ? { kind: "holds", commitId: outcome.found }
        : { kind: "conflict", found: outcome.found };
    }
    case "rejected":
      throw new AppError("forge_rejected", { publicMessage: `The forge refused the branch: ${outcome.reason}` });
    default:
      return assertNever(outcome);
  }
}
