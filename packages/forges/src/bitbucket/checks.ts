import { isFault } from "@emend/base/fault.ts";
import { Type } from "typebox";
import type { CommitCheck, CommitChecks } from "../forge.ts";
import { type BitbucketRepository, listValues } from "./bitbucket-api.ts";

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const BuildStatus = Type.Object({ key: Text, name: Text, state: Type.String(), description: Text });
const states: Readonly<Record<string, CommitCheck["state"]>> = {
  INPROGRESS: "pending",
  SUCCESSFUL: "passed",
  FAILED: "failed",
};
const pagesMax = 4;

/** Pipelines and other services report as build statuses. Their logs are not read. */
export function openChecks(repository: BitbucketRepository): CommitChecks {
  return {
    async report({ commit }, signal) {
      const path = `${repository.path}/commit/${commit}/statuses`;
      try {
        const found = await listValues(repository, { path, item: BuildStatus, what: "read builds" }, pagesMax, signal);
        const checks = found.map(({ key, name, state, description }) => ({
          name: name || key || "build",
          state: states[state] ?? ("stopped" as const),
          words: description ?? "",
          log: null,
        }));
        return { checks, isWhole: true };
      } catch (error) {
        if (isFault(error, "forge_rejected")) return { checks: [], isWhole: false };
        throw error;
      }
    },
    readLog: async () => null,
  };
}
