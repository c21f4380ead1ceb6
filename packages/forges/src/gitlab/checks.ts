import { type Static, Type } from "typebox";
import type { CommitCheck, CommitChecks } from "../forge.ts";
import { tailOf } from "../log-tail.ts";
import type { GitlabRepository } from "./merge-requests.ts";
import { findPipeline } from "./statuses.ts";

const Job = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  status: Type.String(),
  description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  allow_failure: Type.Optional(Type.Boolean()),
  pipeline_id: Type.Optional(Type.Integer()),
});
const states: Readonly<Record<string, CommitCheck["state"]>> = {
  success: "passed",
  skipped: "passed",
  failed: "failed",
  manual: "stopped",
  canceled: "stopped",
  canceling: "stopped",
};
const pageSize = 100;

/** GitLab keeps jobs of pipelines and statuses of other services in one list. */
export function openChecks(repository: GitlabRepository): CommitChecks {
  const { api, path } = repository;
  return {
    async report({ commit, pull }, signal) {
      const pipeline = pull === null ? null : await findPipeline(repository, { commit, number: pull }, signal);
      const answered = await api.ask(
        {
          method: "GET",
          path: `${path}/repository/commits/${pipeline?.sha ?? commit}/statuses`,
          query: { per_page: pageSize },
          answer: Type.Array(Job),
          what: "read commit statuses",
        },
        [401, 403, 404],
        signal,
      );
      if (answered.kind !== "ok") return { checks: [], isWhole: false };
      const listed = answered.value;
      const shown = pipeline ? listed.filter((job) => [undefined, pipeline.id].includes(job.pipeline_id)) : listed;
      const newest = new Map(shown.toSorted((a, b) => a.id - b.id).map((job) => [job.name, job]));
      return { checks: [...newest.values()].map(toCheck), isWhole: listed.length < pageSize };
    },
    async readLog({ log }, signal) {
      const text = await api.readTail(`${path}/jobs/${log}/trace`, signal);
      return text && tailOf(text);
    },
  };
}

function toCheck({ id, name, status, description, allow_failure: mayFail }: Static<typeof Job>): CommitCheck {
  const state = states[status] ?? "pending";
  const isForgiven = mayFail === true && (state === "failed" || state === "stopped");
  return { name, state: isForgiven ? "passed" : state, words: description ?? "", log: String(id) };
}
