import { type Static, Type } from "typebox";
import { basicAuthorization, createApiClient, credentialIdOf, listPages, mayLook } from "../api-client.ts";
import { ForgeFault } from "../faults.ts";
import {
  type Conversation,
  type Forge,
  type ForgeInspection,
  type ForgeProject,
  mention,
  type PullRequestComment,
  type RemoteForgeInput,
} from "../forge.ts";
import {
  findAddress,
  folderOfApi,
  matchesBranch,
  parseRepositoryAddress,
  segmentsBelow,
} from "../repository-address.ts";
import { openChecks } from "./checks.ts";
import { openIssues } from "./issues.ts";
import { mergeMergeRequest } from "./merge.ts";
import {
  accessLevelOf,
  closeMergeRequest,
  createMergeRequest,
  describeRepository,
  findMergeRequests,
  type GitlabRepository,
  listOpenPullRequests,
  readMergeRequest,
  readPullRequestCommits,
  updateMergeRequest,
} from "./merge-requests.ts";
import { type GitlabNote, listNotes, Note } from "./notes.ts";
import { setStatus } from "./statuses.ts";

/** gitlab.com and self-managed GitLab, with a project, group or personal token. */
export function openGitlabForge(input: RemoteForgeInput): Forge {
  const { project, credential } = input;
  const { apiUrl, gitUrl, projectPath } = locateGitlab(project);
  const api = createApiClient({
    fetch: input.fetch,
    forge: "GitLab",
    apiUrl,
    authorization: async () => `Bearer ${credential}`,
    ...(input.polling && { polling: input.polling }),
  });
  const { settings } = project;
  const repository: GitlabRepository = { api, settings, path: `/projects/${encodeURIComponent(projectPath)}` };
  return {
    name: "gitlab",
    credentialId: credentialIdOf("gitlab", apiUrl, credential),
    showsChecks: false,
    commits: null,
    gitRemote: async () => ({ url: gitUrl, authorization: basicAuthorization("oauth2", credential) }),
    findPullRequests: (search, signal) => findMergeRequests(repository, search, signal),
    // GitLab stops a request after 60 s (`GITLAB_RAILS_RACK_TIMEOUT`). It may have waited for a worker before that.
    effectSecondsMax: 180,
    closePullRequest: (number, signal) => closeMergeRequest(repository, number, signal),
    mergePullRequest: (input, signal) => mergeMergeRequest(repository, input, signal),
    pullRef: (number) => `refs/merge-requests/${number}/head`,
    createPullRequest: (draft, signal) => createMergeRequest(repository, draft, signal),
    ensureDetails:
      settings.reviewers.length > 0 ? (number, signal) => ensureReviewers(repository, number, signal) : null,
    readPullRequest: (number, signal) => readMergeRequest(repository, number, signal),
    updatePullRequest: (number, change, signal) => updateMergeRequest(repository, number, change, signal),
    listOpenPullRequests: (signal) => listOpenPullRequests(repository, signal),
    readPullRequestCommits: (pull, signal) => readPullRequestCommits(repository, pull, signal),
    setStatus: (status, signal) => setStatus(repository, status, signal),
    movesStatuses: true,
    checks: openChecks(repository),
    describeRepository: (signal) => describeRepository(repository, signal),
    findAddress: (signal) => findAddress({ ...repository, apiUrl }, signal),
    inspect: (branch, signal) => inspect(repository, branch, signal),
    conversation: openConversation(repository),
    issues: openIssues(repository),
  };
}

/** Groups can nest to any depth. Only the API's URL tells whether GitLab is served from a folder. */
export function locateGitlab(project: Pick<ForgeProject, "repositoryUrl" | "settings">) {
  const given = project.settings.apiUrl;
  const address = parseRepositoryAddress(project.repositoryUrl, { mayBeHttp: given?.startsWith("http:") ?? false });
  const apiUrl = (given ?? `${address.origin}/api/v4`).replace(/\/+$/, "");
  const url = URL.parse(apiUrl);
  if (!url) throw new ForgeFault("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  const projectPath = segmentsBelow(address, folderOfApi(url, address, "/api/v4")).join("/");
  return { apiUrl, gitUrl: `${address.url}.git`, url: address.url, projectPath };
}

const Users = Type.Array(Type.Object({ id: Type.Integer(), username: Type.String() }));

/**
 * GitLab identifies reviewers by id and sets the whole list, so names are looked up and people who were added on GitLab
 * are kept. They come first: GitLab Free keeps only the first reviewer.
 */
async function ensureReviewers(
  { api, path, settings }: GitlabRepository,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const own = `${path}/merge_requests/${number}`;
  const read = { method: "GET", path: own, answer: Type.Object({ reviewers: Users }), what: "read reviewers" } as const;
  const { reviewers } = await api.call(read, signal);
  const missing = settings.reviewers.filter(
    (wanted) => !reviewers.some(({ username }) => username.toLowerCase() === wanted.toLowerCase()),
  );
  const found: number[] = [];
  const unknown: string[] = [];
  for (const username of missing) {
    const request = { path: "/users", query: { username }, answer: Users, what: "look people up" };
    const [user] = await api.call({ ...request, method: "GET" }, signal);
    if (user) found.push(user.id);
    else unknown.push(username);
  }
  if (found.length > 0) {
    const body = { reviewer_ids: [...reviewers.map(({ id }) => id), ...found] };
    await api.call({ method: "PUT", path: own, body, answer: Type.Object({}), what: "request reviews" }, signal);
  }
  if (unknown.length === 0) return;
  throw new ForgeFault("forge_rejected", { publicMessage: `GitLab has no user named ${unknown.join(", ")}.` });
}

const Token = Type.Object({
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  expires_at: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const Access = Type.Object({
  access_level: Type.Union([Type.Integer(), Type.Null()]),
  access_level_description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const ProtectedBranch = Type.Object({ name: Type.String(), push_access_levels: Type.Array(Access) });
const Hook = Type.Object({ url: Type.String(), alert_status: Type.Optional(Type.String()) });

async function inspect(repository: GitlabRepository, branch: string, signal: AbortSignal): Promise<ForgeInspection> {
  const { api, path } = repository;
  const version = await mayLook(api, { path: "/version", answer: Type.Object({ version: Type.String() }) }, signal);
  const user = await mayLook(api, { path: "/user", answer: Type.Object({ username: Type.String() }) }, signal);
  const token = await mayLook(api, { path: "/personal_access_tokens/self", answer: Token }, signal);
  const query = { per_page: 100 };
  const branches = await mayLook(
    api,
    { path: `${path}/protected_branches`, query, answer: Type.Array(ProtectedBranch) },
    signal,
  );
  const hooks = await mayLook(api, { path: `${path}/hooks`, query, answer: Type.Array(Hook) }, signal);
  const level = await accessLevelOf(repository, signal);
  const closed = (branches?.value ?? []).filter(
    ({ name, push_access_levels: allowed }) =>
      matchesBranch(name, branch, { starCrossesSlash: true }) && !allowed.some((access) => mayPush(access, level)),
  );
  return {
    server: version && `GitLab ${version.value.version}`,
    account: user?.value.username ?? null,
    expiresAt: token?.value.expires_at ? new Date(token.value.expires_at) : null,
    lacks: token && !token.value.scopes.includes("api") ? ["the scope api"] : [],
    branchRules: branches && closed.map(({ name, push_access_levels: allowed }) => wordsFor(name, allowed)),
    webhooks:
      hooks?.value.map(({ url, alert_status: status }) => ({
        url,
        isActive: status === undefined || status === "executable",
        failure: status === undefined || status === "executable" ? null : `GitLab calls it ${status}`,
      })) ?? null,
  };
}

/** 0 means nobody. An entry for a person or group has no comparable level, so it is assumed to allow the push. */
function mayPush({ access_level: wanted }: { access_level: number | null }, level: number | null): boolean {
  if (wanted === null || level === null) return true;
  return wanted > 0 && level >= wanted;
}

function wordsFor(name: string, allowed: readonly { access_level_description?: string | null }[]): string {
  const who = allowed.map((access) => access.access_level_description ?? "").filter((words) => words !== "");
  return `${name} is protected, and only these may push: ${who.join(", ") || "no one"}`;
}

const Discussion = Type.Object({ id: Type.String(), notes: Type.Array(Type.Object({ id: Type.Integer() })) });
const pagesMax = 10;
/** Developer. */
const writeLevel = 30;

function openConversation({ api, path }: GitlabRepository): Conversation {
  return {
    async listComments(number, signal) {
      const notes = await listNotes(
        api,
        { path: `${path}/merge_requests/${number}/notes`, what: "read comments", activity: "all_notes" },
        signal,
      );
      return notes.flatMap((note) => (note.system ? (toReview(note, notes) ?? []) : toComment(note)));
    },
    async mayWrite(author, signal) {
      const members = await listPages(
        api,
        {
          path: `${path}/members/all`,
          query: { query: author },
          item: Type.Object({ username: Type.String(), access_level: Type.Integer(), state: Type.String() }),
          sizeName: "per_page",
          pageSize: 100,
          what: "read a person's permissions",
        },
        pagesMax,
        signal,
      );
      const isWriter = members.some(
        (member) => member.username === author && member.access_level >= writeLevel && member.state === "active",
      );
      return isWriter ? "yes" : "no";
    },
    async comment(number, text, signal) {
      const request = { path: `${path}/merge_requests/${number}/notes`, body: { body: text }, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Note }, signal);
    },
    async reply(number, { id }, text, signal) {
      const own = `${path}/merge_requests/${number}/discussions`;
      const page = { sizeName: "per_page", pageSize: 100, newest: true } as const;
      const request = { ...page, path: own, item: Discussion, what: "read threads" };
      const threads = await listPages(api, request, pagesMax, signal);
      const thread = threads.find(({ notes }) => notes.some((note) => `n${note.id}` === id));
      if (!thread) return false;
      const notesPath = `${own}/${thread.id}/notes`;
      const answer = { path: notesPath, body: { body: text }, answer: Note, what: "answer a comment" };
      return (await api.ask({ ...answer, method: "POST" }, [404], signal)).kind === "ok";
    },
  };
}

function toComment({ id, author, body, position }: GitlabNote): PullRequestComment {
  return { id: `n${id}`, author: author.username, text: body, ...placeOf(position) };
}

/** GitLab's own words for it, which it does not translate. */
const isRequest = ({ system, body }: GitlabNote) => system && body === "requested changes";

/**
 * GitLab keeps a reviewer's state apart from the comments, and notes when it changes. A request for changes is about what
 * its author has said since the request before. Comments that mention Emend are heard on their own. Null: it is none, or
 * says nothing.
 */
function toReview(note: GitlabNote, notes: readonly GitlabNote[]): PullRequestComment | null {
  if (!isRequest(note)) return null;
  const earlier = notes.slice(0, notes.indexOf(note)).filter(({ author }) => author.username === note.author.username);
  const said = earlier
    .slice(earlier.findLastIndex(isRequest) + 1)
    .filter(({ system, body }) => !system && !mention.test(body))
    .map(toComment);
  if (said.length === 0) return null;
  const text = said.flatMap((comment) => (comment.path === null ? comment.text : [])).join("\n\n");
  const lines = said.filter(({ path }) => path !== null);
  return { ...toComment(note), text, requestsChanges: true, lines };
}

/** A removed line has a number only in the old file. */
function placeOf(
  position: Static<typeof Note>["position"],
): Pick<PullRequestComment, "path" | "line" | "isRemovedLine"> {
  const line = position?.new_line ?? null;
  const oldLine = position?.old_line ?? null;
  if (line === null && oldLine !== null) {
    return { path: position?.old_path ?? position?.new_path ?? null, line: oldLine, isRemovedLine: true };
  }
  return { path: position?.new_path ?? null, line };
}
