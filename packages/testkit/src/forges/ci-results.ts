import type { Answer } from "./answer.ts";
import { type FarCheck, type FarState, logOf, storedLogs, type Vendor } from "./far-end.ts";

/** How each vendor shows what CI says about a commit. A check with a log is a job; another service set one without. */
const notFound: Answer = { status: 404, body: { message: "Not Found" } };
const at = new Date(0).toISOString();

const checksOf = (state: FarState, commit: string | undefined) =>
  state.checks.filter((check) => check.commit === commit);

const conclusions = { passed: "success", failed: "failure", pending: null, stopped: "cancelled" };
const githubStates = { passed: "success", failed: "failure", pending: "pending", stopped: "error" };

export const githubCi: Vendor["handlers"] = {
  "GET /repos/{owner}/{repo}/commits/{ref}/check-runs": (state, { parameters }) => {
    if (state.unreadableChecks) return { status: 403, body: { message: "Resource not accessible" } };
    const runs = checksOf(state, parameters.ref).filter(({ log }) => log !== undefined);
    const toRun = ({ id, name, state: word, words }: FarCheck) => ({
      id,
      name,
      url: `${state.url}/api/v3/check-runs/${id}`,
      html_url: `${state.url}/runs/${id}`,
      status: word === "pending" ? "in_progress" : "completed",
      conclusion: conclusions[word],
      output: { title: words, summary: null },
    });
    return { status: 200, body: { total_count: runs.length, check_runs: runs.map(toRun) } };
  },
  "GET /repos/{owner}/{repo}/commits/{ref}/status": (state, { parameters: { ref = "" } }) => {
    const url = `${state.url}/api/v3/repos/${state.path}/commits/${ref}`;
    const statuses = checksOf(state, ref)
      .filter(({ log }) => log === undefined)
      .map(({ id, name, state: word, words }) => ({
        id,
        url,
        context: name,
        state: githubStates[word],
        description: words,
        target_url: `${state.url}/ci/${id}`,
      }));
    return { status: 200, body: { state: "pending", sha: ref, total_count: statuses.length, statuses } };
  },
  // Logs are in a store of their own, whose addresses need no credential.
  "GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs": (state, { parameters: { job_id: id = "" } }) =>
    logOf(state, id).status === 404
      ? notFound
      : { status: 302, body: {}, headers: { location: `${state.url}${storedLogs}${id}` } },
};

const gitlabStates = { passed: "success", failed: "failed", pending: "running", stopped: "canceled" };

export function gitlabJobs(state: FarState, commit: string) {
  return checksOf(state, commit).map(({ id, name, state: word, words }) => ({
    id,
    sha: commit,
    ref: "main",
    status: gitlabStates[word],
    name,
    target_url: null,
    description: words,
  }));
}

export const gitlabCi: Vendor["handlers"] = {
  "GET /projects/{id}/jobs/{job_id}/trace": (state, { parameters }) => logOf(state, parameters.job_id),
};

const bitbucketStates = { passed: "SUCCESSFUL", failed: "FAILED", pending: "INPROGRESS", stopped: "STOPPED" };

export function bitbucketBuilds(state: FarState, commit: string) {
  return checksOf(state, commit).map(({ id, name, state: word, words }) => {
    return {
      type: "build",
      key: `k${id}`,
      name,
      state: bitbucketStates[word],
      description: words,
      url: `${state.url}/b/${id}`,
    };
  });
}

const giteaStates = { passed: "success", failed: "failure", pending: "pending", stopped: "warning" };
const runId = 40;

export const giteaCi: Vendor["handlers"] = {
  "GET /repos/{owner}/{repo}/commits/{ref}/status": (state, { parameters: { ref = "" } }) => {
    const statuses = checksOf(state, ref).map(({ id, name, state: word, words, log }) => ({
      id,
      url: `${state.url}/s/${id}`,
      context: name,
      status: giteaStates[word],
      description: words,
      target_url: log === undefined ? "" : `/${state.path}/actions/runs/${runId}/jobs/${id}`,
      created_at: at,
    }));
    return {
      status: 200,
      body: {
        sha: ref,
        state: "pending",
        total_count: statuses.length,
        statuses: statuses.length > 0 ? statuses : null,
      },
    };
  },
  "GET /repos/{owner}/{repo}/actions/jobs/{job_id}": (state, { parameters: { job_id: id = "" } }) => {
    const found = state.checks.find((check) => check.id === Number(id));
    if (!found) return notFound;
    return { status: 200, body: { id: found.id, run_id: runId, name: found.name, head_sha: found.commit } };
  },
  "GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs": (state, { parameters }) => logOf(state, parameters.job_id),
};

const azureDevopsStates = { passed: "succeeded", failed: "failed", pending: "pending", stopped: "notSet" };
const azureDevopsResults = { passed: "succeeded", failed: "failed", pending: "none", stopped: "canceled" };
const pipelines = "/{project}/_apis/build/builds";

/** A pull request's builds run on a commit of their own, and name its head. */
export const azureDevopsCi: Vendor["handlers"] = {
  "GET /{project}/_apis/git/repositories/{repositoryId}/commits/{commitId}/statuses": (state, { parameters }) => {
    const statuses = checksOf(state, parameters.commitId)
      .filter(({ log }) => log === undefined)
      .map(({ id, name, state: word, words }) => ({
        id,
        state: azureDevopsStates[word],
        description: words,
        context: { name, genre: "continuous-integration" },
        targetUrl: `${state.url}/b/${id}`,
      }));
    return { status: 200, body: { count: statuses.length, value: statuses } };
  },
  [`GET ${pipelines}`]: (state, { query }) => {
    if (state.unreadableChecks) return { status: 403, body: { message: "Access denied", typeKey: "AccessDenied" } };
    const isOfPull = query.get("branchName")?.startsWith("refs/pull/") === true;
    const builds = state.checks
      .filter(({ log }) => log !== undefined)
      .map(({ id, commit, name, state: word, words }) => ({
        id,
        buildNumber: words,
        status: word === "pending" ? "inProgress" : "completed",
        result: azureDevopsResults[word],
        definition: { id: 1, name },
        ...(isOfPull
          ? { sourceVersion: "f".repeat(40), triggerInfo: { "pr.sourceSha": commit } }
          : { sourceVersion: commit, triggerInfo: {} }),
      }));
    return { status: 200, body: { count: builds.length, value: builds } };
  },
  [`GET ${pipelines}/{buildId}/timeline`]: (state, { parameters }) => {
    const found = state.checks.find(({ id }) => id === Number(parameters.buildId));
    if (!found) return { status: 404, body: { message: "The build does not exist.", typeKey: "BuildNotFound" } };
    const record = (id: number, type: string, result: string) => ({ id: `${id}`, type, result, log: { id } });
    const records = [
      record(1, "Task", "succeeded"),
      record(found.id, "Task", "failed"),
      record(3, "Task", "succeeded"),
      record(4, "Job", "failed"),
    ];
    return { status: 200, body: { id: "timeline", records } };
  },
  [`GET ${pipelines}/{buildId}/logs/{logId}`]: (state, { parameters }) => logOf(state, parameters.logId),
};
