import { type Static, Type } from "typebox";
import type { CommitCheck, CommitChecks } from "../forge.ts";
import { tailOf } from "../log-tail.ts";
import type { GiteaRepository } from "./pull-requests.ts";

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Status = Type.Object({ context: Type.String(), status: Type.String(), description: Text, target_url: Text });
const Combined = Type.Object({
  total_count: Type.Integer(),
  // Null: there are none.
  statuses: Type.Union([Type.Array(Status), Type.Null()]),
});
const ActionsJob = Type.Object({ id: Type.Integer(), run_id: Type.Integer(), head_sha: Type.String() });
const states: Readonly<Record<string, CommitCheck["state"]>> = {
  pending: "pending",
  success: "passed",
  skipped: "passed",
  failure: "failed",
  error: "failed",
};
const pageSize = 50;
/** A release without it, or a token that may not read it. */
const unreadable = [400, 401, 403, 404];
const actionsJob = /\/actions\/runs\/(\d+)\/jobs\/(\d+)$/;

export function openChecks({ api, path }: GiteaRepository): CommitChecks {
  return {
    async report({ commit }, signal) {
      const answered = await api.ask(
        {
          method: "GET",
          path: `${path}/commits/${commit}/status`,
          query: { limit: pageSize },
          answer: Combined,
          what: "read commit statuses",
        },
        unreadable,
        signal,
      );
      if (answered.kind !== "ok") return { checks: [], isWhole: false };
      const { total_count: total, statuses } = answered.value;
      return { checks: (statuses ?? []).map(toCheck), isWhole: total <= pageSize };
    },
    async readLog({ commit, log }, signal) {
      const [run = "", job = ""] = log.split("/");
      const own = `${path}/actions/jobs/${job}`;
      const found = await api.ask(
        { method: "GET", path: own, answer: ActionsJob, what: "read a job of Actions" },
        unreadable,
        signal,
      );
      // Older releases count the jobs of a run in this address, so the number may be that of another job.
      if (found.kind !== "ok" || found.value.run_id !== Number(run) || found.value.head_sha !== commit) return null;
      const text = await api.readTail(`${own}/logs`, signal);
      return text && tailOf(text);
    },
  };
}

function toCheck({ context, status, description, target_url: url }: Static<typeof Status>): CommitCheck {
  const [, run, job] = actionsJob.exec(url ?? "") ?? [];
  const log = run !== undefined && job !== undefined ? `${run}/${job}` : null;
  return { name: context, state: states[status] ?? "stopped", words: description ?? "", log };
}
