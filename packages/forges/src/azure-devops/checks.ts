import { type Static, Type } from "typebox";
import type { CommitCheck, CommitChecks } from "../forge.ts";
import { tailOf } from "../log-tail.ts";
import { type AzureDevopsRepository, listed } from "./azure-devops-api.ts";
import { Ids } from "./write-access.ts";

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Status = Type.Object({
  state: Type.Optional(Type.String()),
  description: Text,
  context: Type.Optional(Type.Union([Type.Object({ name: Text }), Type.Null()])),
});
const Build = Type.Object({
  id: Type.Integer(),
  buildNumber: Text,
  status: Type.Optional(Type.String()),
  result: Type.Optional(Type.String()),
  sourceVersion: Text,
  definition: Type.Optional(Type.Union([Type.Object({ name: Text }), Type.Null()])),
  triggerInfo: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()])),
});
const Timeline = Type.Object({
  records: Type.Optional(
    Type.Union([
      Type.Array(
        Type.Object({
          type: Text,
          result: Text,
          log: Type.Optional(Type.Union([Type.Object({ id: Type.Integer() }), Type.Null()])),
        }),
      ),
      Type.Null(),
    ]),
  ),
});
const statusStates: Readonly<Record<string, CommitCheck["state"]>> = {
  pending: "pending",
  succeeded: "passed",
  notApplicable: "passed",
  failed: "failed",
  error: "failed",
};
/** A build that is partially successful has failed steps, and satisfies no policy. */
const buildStates: Readonly<Record<string, CommitCheck["state"]>> = {
  succeeded: "passed",
  partiallySucceeded: "failed",
  failed: "failed",
};
const buildsMax = 200;
const unreadable = [401, 403, 404];

/** Builds of Azure Pipelines, and statuses that other services set on a commit. */
export function openChecks(repository: AzureDevopsRepository): CommitChecks {
  const { api, path, project } = repository;
  return {
    async report({ commit, pull }, signal) {
      const builds = await listBuilds(repository, { commit, pull }, signal);
      const query = { latestOnly: "true", top: 1000 };
      const request = {
        path: `${path}/commits/${commit}/statuses`,
        query,
        answer: listed(Status),
        what: "read statuses",
      };
      const outcome = await api.ask({ ...request, method: "GET" }, unreadable, signal);
      const statuses = outcome.kind === "ok" ? outcome.value.value : [];
      return {
        checks: [...(builds ?? []).map(buildToCheck), ...statuses.map(statusToCheck)],
        isWhole: builds !== null && outcome.kind === "ok",
      };
    },
    async readLog({ log }, signal) {
      if (!/^\d+$/.test(log)) return null;
      const place = `/${project}/_apis/build/builds/${log}`;
      const request = { path: `${place}/timeline`, answer: Timeline, what: "read a build" };
      const outcome = await api.ask({ ...request, method: "GET" }, unreadable, signal);
      const records = outcome.kind === "ok" ? (outcome.value.records ?? []) : [];
      const logged = records.filter((one) => one.log);
      const failed = logged.findLast(({ type, result }) => type === "Task" && result === "failed") ?? logged.at(-1);
      if (!failed?.log) return null;
      const text = await api.readTail(`${place}/logs/${failed.log.id}`, signal);
      return text === null ? null : tailOf(text);
    },
  };
}

/**
 * Builds cannot be searched by commit. Those of a pull request run on the commit that would merge it, and tell its head.
 * Null: the credential may not read them.
 */
async function listBuilds(
  { api, path, project }: AzureDevopsRepository,
  { commit, pull }: { commit: string; pull: number | null },
  signal: AbortSignal,
): Promise<readonly Static<typeof Build>[] | null> {
  const { id } = await api.call({ method: "GET", path, answer: Ids, what: "read the repository" }, signal);
  const newest = new Map<string, Static<typeof Build>>();
  for (const branch of pull === null ? [null] : [`refs/pull/${pull}/merge`, null]) {
    const query = {
      repositoryId: id,
      repositoryType: "TfsGit",
      queryOrder: "queueTimeDescending",
      $top: buildsMax,
      ...(branch !== null && { branchName: branch }),
    };
    const request = { path: `/${project}/_apis/build/builds`, query, answer: listed(Build), what: "read builds" };
    const outcome = await api.ask({ ...request, method: "GET" }, unreadable, signal);
    if (outcome.kind !== "ok") return null;
    for (const build of outcome.value.value) {
      if (build.sourceVersion !== commit && build.triggerInfo?.["pr.sourceSha"] !== commit) continue;
      const name = nameOf(build);
      if (build.id > (newest.get(name)?.id ?? 0)) newest.set(name, build);
    }
  }
  return [...newest.values()];
}

function nameOf({ definition }: Static<typeof Build>): string {
  return definition?.name || "build";
}

function buildToCheck(build: Static<typeof Build>): CommitCheck {
  const { id, status, result = "", buildNumber } = build;
  const state = status === "completed" ? (buildStates[result] ?? "stopped") : "pending";
  return { name: nameOf(build), state, words: buildNumber ?? "", log: String(id) };
}

function statusToCheck({ context, state = "", description }: Static<typeof Status>): CommitCheck {
  const name = context?.name || "status";
  return { name, state: statusStates[state] ?? "stopped", words: description ?? "", log: null };
}
