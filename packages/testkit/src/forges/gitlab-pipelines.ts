import type { Answer } from "./answer.ts";
import { gitlabJobs } from "./ci-results.ts";
import type { FarPipeline, FarPull, FarState } from "./far-end.ts";
import { commitOf, tipOf } from "./pulls.ts";

/**
 * Where GitLab keeps commit statuses: as jobs of a pipeline, which has a commit and a ref. The rules are those of
 * app/services/ci/create_commit_status_service.rb and app/finders/ci/pipelines_for_merge_request_finder.rb of gitlabhq,
 * read on 2026-11-17.
 */
export const projectId = 7;
/** The project that forks' branches are in. */
export const forkId = 9;

const unfinished = ["pending", "running"];

/** The head of a merge request. The target project has a fork's commit under `refs/merge-requests`, not as a branch. */
export function headOf(state: FarState, pull: FarPull): string | null {
  return pull.fork ?? tipOf(state, pull.head);
}

/** Pipelines of the merge request itself come before those of its branch, and each kind with the newest first. */
export function headPipelineOf(state: FarState, pull: FarPull): FarPipeline | null {
  const source = pull.fork === undefined ? projectId : forkId;
  const ofBranch = (one: FarPipeline) => one.merge === undefined && one.project === source && one.ref === pull.head;
  const found = state.pipelines.filter((one) => one.merge === pull.number || ofBranch(one));
  const rank = (one: FarPipeline) => (one.merge === undefined ? 1 : 0);
  return found.toSorted((left, right) => rank(left) - rank(right) || right.id - left.id)[0] ?? null;
}

export function pipelineToWire(state: FarState, pipeline: FarPipeline | null) {
  if (!pipeline) return null;
  const { id, project, sha, ref, merge } = pipeline;
  const source = merge === undefined ? "push" : "merge_request_event";
  const url = `${state.url}/${state.path}/-/pipelines/${id}`;
  return { id, iid: id, project_id: project, sha, ref, status: statusOf(pipeline), source, web_url: url };
}

/** One job that failed makes the pipeline fail. A job with the name of a later one no longer counts. */
export function statusOf({ jobs }: FarPipeline): string {
  const words = jobs.filter((job) => isLatest(jobs, job)).map(({ state }) => state);
  return ["failed", "pending", "running"].find((word) => words.includes(word)) ?? "success";
}

function isLatest(jobs: FarPipeline["jobs"], job: FarPipeline["jobs"][number]): boolean {
  return jobs.findLast(({ name }) => name === job.name) === job;
}

export function addPipeline(state: FarState, pipeline: Omit<FarPipeline, "id" | "jobs">): FarPipeline {
  const added = { ...pipeline, id: 100 + state.pipelines.length, jobs: [] };
  state.pipelines.push(added);
  return added;
}

export function listStatuses(state: FarState, sha: string, query: URLSearchParams): Answer {
  if (!commitOf(state, sha)) return missing("Commit");
  const [ref, name] = [query.get("ref"), query.get("name")];
  const found = state.pipelines
    .filter((one) => one.project === projectId && one.sha === sha && (ref === null || one.ref === ref))
    .flatMap((one) => one.jobs.filter((job) => isLatest(one.jobs, job)).map((job) => jobToWire(one, job)))
    .filter((job) => name === null || job.name === name);
  return { status: 200, body: [...found, ...(name === null ? gitlabJobs(state, sha) : [])] };
}

// biome-ignore lint/suspicious/noExplicitAny: checked against the vendor's description before it gets here
export function postStatus(state: FarState, sha: string, body: any): Answer {
  if (!commitOf(state, sha)) return missing("Commit");
  const { state: word, name, pipeline_id: id } = body;
  const fits = (one: FarPipeline) =>
    one.project === projectId &&
    one.sha === sha &&
    [undefined, one.ref].includes(body.ref) &&
    [undefined, one.id].includes(id);
  const known = state.pipelines.findLast(fits);
  if (id !== undefined && !known) return missing("Pipeline for pipeline_id, sha and ref");
  const ref = body.ref ?? known?.ref;
  if (ref === undefined) return missing("References for commit");
  // Only maintainers may touch the pipelines of a protected branch.
  if (ref === "main" && !state.isMaintainer) return { status: 403, body: { message: "403 Forbidden" } };
  const pipeline = known ?? addPipeline(state, { project: projectId, sha, ref });
  const job = pipeline.jobs.find((one) => one.name === name && unfinished.includes(one.state));
  if (job && word === "pending") {
    const why =
      'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")';
    return { status: 400, body: { message: why } };
  }
  const said = { name, state: word, words: body.description, url: body.target_url };
  if (job) Object.assign(job, said);
  else pipeline.jobs.push(said);
  state.statuses.set(`${sha} ${name}`, said);
  return { status: 201, body: jobToWire(pipeline, said) };
}

function jobToWire({ id, sha, ref }: FarPipeline, { name, state, words, url }: FarPipeline["jobs"][number]) {
  return { id: 1, sha, ref, status: state, name, target_url: url, description: words, pipeline_id: id };
}

function missing(what: string): Answer {
  return { status: 404, body: { message: `404 ${what} Not Found` } };
}
