import { type Static, Type } from "typebox";
import { refusalOf, wordsOf } from "../api-refusal.ts";
import type { CommitStatus } from "../forge.ts";
import type { GitlabRepository } from "./merge-requests.ts";

const Pipeline = Type.Object({
  id: Type.Integer(),
  project_id: Type.Integer(),
  sha: Type.String(),
  ref: Type.String(),
});
const Piped = Type.Object({
  target_project_id: Type.Integer(),
  /** Absent where the token may not read pipelines. */
  head_pipeline: Type.Optional(Type.Union([Pipeline, Type.Null()])),
});
const Statuses = Type.Array(
  Type.Object({
    status: Type.String(),
    description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    target_url: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    pipeline_id: Type.Optional(Type.Integer()),
  }),
);
/** GitLab has no word for neutral: it is a success that says in its words what was found. */
const states = { pending: "pending", passed: "success", neutral: "success", failed: "failed" } as const;
const mergedResult = /^refs\/merge-requests\/\d+\/(?:merge|train)$/;
const wordsMax = 255;
const noPlace =
  "The merge request comes from a fork and has no pipeline in this project, so GitLab has no place for a status on it.";

/**
 * A status is a job of a pipeline, and a merge request shows one pipeline: its own if it has one, otherwise the newest of
 * its branch. So each merge request's pipeline gets the status. Without one, GitLab makes a pipeline for the branch.
 * A fork's branch is none of this project: its name here would be that of another branch.
 */
export async function setStatus(
  repository: GitlabRepository,
  status: CommitStatus,
  signal: AbortSignal,
): Promise<string | null> {
  let unseen: string | null = null;
  const done = new Set<string>();
  for (const pull of status.pulls) {
    const pipeline = await findPipeline(repository, { commit: status.commit, number: pull.number }, signal);
    if (!pipeline && pull.isFork) unseen = noPlace;
    else {
      const place: Place = pipeline
        ? { commit: pipeline.sha, query: {}, body: { pipeline_id: pipeline.id } }
        : { commit: status.commit, query: { ref: pull.head }, body: { ref: pull.head } };
      if (!done.has(JSON.stringify(place))) await ensureStatus(repository, place, status, signal);
      done.add(JSON.stringify(place));
    }
  }
  return unseen;
}

interface Place {
  /** The pipeline's, which differs from the merge request's if GitLab builds the merged result. */
  commit: string;
  query: { ref?: string };
  body: { pipeline_id: number } | { ref: string };
}

/** The pipeline that the merge request shows, if it is of this commit and in this project. */
export async function findPipeline(
  { api, path }: GitlabRepository,
  { commit, number }: { commit: string; number: number },
  signal: AbortSignal,
): Promise<Static<typeof Pipeline> | null> {
  const request = { path: `${path}/merge_requests/${number}`, answer: Piped, what: "read a merge request" };
  const found = await api.ask({ ...request, method: "GET" }, [404], signal);
  if (found.kind !== "ok") return null;
  const { head_pipeline: pipeline, target_project_id: own } = found.value;
  if (!pipeline || pipeline.project_id !== own) return null;
  if (pipeline.sha === commit) return pipeline;
  // The pipeline of an earlier commit, unless it builds the result of merging this one.
  if (!mergedResult.test(pipeline.ref)) return null;
  const merged = await api.ask(
    {
      method: "GET",
      path: `${path}/repository/commits/${pipeline.sha}`,
      answer: Type.Object({ parent_ids: Type.Array(Type.String()) }),
      what: "read a commit",
    },
    [404],
    signal,
  );
  return merged.kind === "ok" && merged.value.parent_ids.includes(commit) ? pipeline : null;
}

/** Every status that follows a finished one is another job, so an equal one is not sent again. */
async function ensureStatus(
  { api, path }: GitlabRepository,
  { commit, query, body: place }: Place,
  { name, state, words, url }: CommitStatus,
  signal: AbortSignal,
): Promise<void> {
  const what = "set a commit status";
  const description = words.slice(0, wordsMax);
  const listed = await api.ask(
    {
      method: "GET",
      path: `${path}/repository/commits/${commit}/statuses`,
      query: { ...query, name, per_page: 100 },
      answer: Statuses,
      what: "read commit statuses",
    },
    [403, 404],
    signal,
  );
  const isThere =
    listed.kind === "ok" &&
    listed.value.some(
      (one) =>
        one.status === states[state] &&
        one.description === description &&
        one.target_url === url &&
        (!("pipeline_id" in place) || one.pipeline_id === place.pipeline_id),
    );
  if (isThere) return;
  const outcome = await api.ask(
    {
      method: "POST",
      path: `${path}/statuses/${commit}`,
      body: { ...place, state: states[state], name, description, target_url: url },
      answer: Type.Object({}),
      what,
    },
    [400],
    signal,
  );
  // A pending status cannot be set to pending again, so GitLab keeps its earlier words.
  if (outcome.kind === "ok" || /cannot transition/i.test(wordsOf(outcome.body))) return;
  throw refusalOf("GitLab", outcome, what);
}
