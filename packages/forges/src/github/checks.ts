import { type Static, Type } from "typebox";
import type { CommitCheck, CommitChecks } from "../forge.ts";
import { tailOf } from "../log-tail.ts";
import type { GithubRepository } from "./github-token.ts";

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const CheckRun = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  status: Type.String(),
  conclusion: Type.Union([Type.String(), Type.Null()]),
  output: Type.Optional(Type.Object({ title: Text, summary: Text })),
});
const CheckRuns = Type.Object({ total_count: Type.Integer(), check_runs: Type.Array(CheckRun) });
const Status = Type.Object({ context: Type.String(), state: Type.String(), description: Text });
const Combined = Type.Object({ total_count: Type.Integer(), statuses: Type.Array(Status) });

const conclusions: Readonly<Record<string, CommitCheck["state"]>> = {
  success: "passed",
  neutral: "passed",
  skipped: "passed",
  failure: "failed",
  timed_out: "failed",
  startup_failure: "failed",
};
const states: Readonly<Record<string, CommitCheck["state"]>> = {
  success: "passed",
  failure: "failed",
  error: "failed",
  pending: "pending",
};
const pageSize = 100;
/** What the credential may not read. */
const unreadable = [401, 403, 404];

/** Check runs, which Actions and Apps make, and statuses, which others set. Fine-grained tokens may read statuses only. */
export function openChecks({ api, path }: GithubRepository): CommitChecks {
  return {
    async report({ commit }, signal) {
      const request = { method: "GET", query: { per_page: pageSize } } as const;
      const of = `${path}/commits/${commit}`;
      const runs = await api.ask(
        { ...request, path: `${of}/check-runs`, answer: CheckRuns, what: "read check runs" },
        unreadable,
        signal,
      );
      const statuses = await api.ask(
        { ...request, path: `${of}/status`, answer: Combined, what: "read commit statuses" },
        unreadable,
        signal,
      );
      const run = runs.kind === "ok" ? runs.value : null;
      const said = statuses.kind === "ok" ? statuses.value : null;
      return {
        checks: [...(run?.check_runs ?? []).map(toRun), ...(said?.statuses ?? []).map(toStatus)],
        isWhole: run !== null && said !== null && Math.max(run.total_count, said.total_count) <= pageSize,
      };
    },
    async readLog({ log }, signal) {
      const text = await api.readTail(`${path}/actions/jobs/${log}/logs`, signal);
      return text && tailOf(text);
    },
  };
}

function toRun({ id, name, status, conclusion, output }: Static<typeof CheckRun>): CommitCheck {
  const words = [output?.title, output?.summary].filter((part) => part).join("\n");
  const state = status === "completed" ? (conclusions[conclusion ?? ""] ?? "stopped") : "pending";
  // A job of Actions has the id of its check run. Other Apps keep their logs.
  return { name, state, words, log: String(id) };
}

function toStatus({ context, state, description }: Static<typeof Status>): CommitCheck {
  return { name: context, state: states[state] ?? "stopped", words: description ?? "", log: null };
}
