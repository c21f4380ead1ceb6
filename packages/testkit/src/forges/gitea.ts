import type { Answer } from "./answer.ts";
import type { ApiDescription } from "./api-judge.ts";
import { giteaCi } from "./ci-results.ts";
import type { FarComment, FarPull, FarState, Vendor } from "./far-end.ts";
import forgejoDescription from "./fixtures/forgejo-api.json" with { type: "json" };
import olderDescription from "./fixtures/gitea-1.20-api.json" with { type: "json" };
import description from "./fixtures/gitea-1.27-api.json" with { type: "json" };
import {
  addRemark,
  addReply,
  commentsOf,
  commitOf,
  createPull,
  editRemark,
  issueOf,
  labelsOnIssue,
  mergeBaseOf,
  mergePull,
  newestFirst,
  pageOf,
  plainPull,
  pullOf,
  repositoriesOf,
  reviewIdOf,
  reviewsOf,
  sinceOf,
  tipOf,
} from "./pulls.ts";

const repositoryId = 3;
const refusal = (_status: number, message: string) => ({ message, url: "https://gitea.test/api/swagger" });
const notFound: Answer = { status: 404, body: refusal(404, "The target couldn't be found.") };
const user = (login: string) => ({ id: 1, login });

function toWire(state: FarState, pull: FarPull) {
  // After its branch is deleted, the head's ref is the pull request's own.
  const branch = (name: string, gone: string) => {
    const sha = tipOf(state, name);
    return { label: name, ref: sha ? name : gone, sha: sha ?? "", repo_id: repositoryId };
  };
  return {
    id: 300 + pull.number,
    number: pull.number,
    url: `${state.url}/api/v1/repos/${state.path}/pulls/${pull.number}`,
    html_url: `${state.url}/${state.path}/pulls/${pull.number}`,
    state: pull.state === "open" ? "open" : "closed",
    title: pull.title,
    body: pull.body,
    draft: /^wip:/i.test(pull.title),
    merged: pull.state === "merged",
    merged_at: pull.state === "merged" ? pull.at : null,
    created_at: pull.at,
    updated_at: pull.at,
    merge_base: mergeBaseOf(state, pull.base, pull.head) ?? "",
    head: branch(pull.head, `refs/pull/${pull.number}/head`),
    base: branch(pull.base, pull.base),
    labels: pull.labels.map((name, index) => ({ id: index + 1, name })),
    user: user("emend"),
  };
}

const remarkToWire = ({ id, body, author, at }: FarComment) => ({
  id,
  html_url: `https://gitea.test/#${id}`,
  body,
  user: user(author),
  created_at: at,
  updated_at: at,
});
const lineToWire = (comment: FarComment) => {
  const { path, line = 0, isRemovedLine } = comment;
  const place = isRemovedLine ? { position: 0, original_position: line } : { position: line, original_position: 0 };
  return { ...remarkToWire(comment), path, ...place };
};
const labelsOf = (state: FarState) => state.labels.map((name, index) => ({ id: index + 1, name }));
const organizationLabelsOf = (state: FarState) =>
  state.organizationLabels.map((name, index) => ({ id: index + 1001, name }));

/** A page of a list, limited to the server's maximum, with the total count. */
function listedAs<T>(state: FarState, items: readonly T[], query: URLSearchParams) {
  const limit = Math.min(Number(query.get("limit") ?? 30), state.pageSizeMax);
  const body = pageOf(items, new URLSearchParams({ limit: String(limit), page: query.get("page") ?? "1" }), "limit");
  return { status: 200, body, headers: { "x-total-count": String(items.length) } };
}

/** For a user's repository, teams return 405, which the description omits: routers/api/v1/repo/teams.go, 1.20 to 1.27. */
function asInSource(described: ApiDescription): ApiDescription {
  const name = "GET /repos/{owner}/{repo}/teams";
  const teams = described.operations[name];
  const more = teams && { [name]: { ...teams, responses: { ...teams.responses, 405: {} } } };
  return { ...described, operations: { ...described.operations, ...more } };
}

/** Gitea: the part of it that Emend uses. */
export const giteaVendor: Vendor = {
  name: "gitea",
  apiPath: "/api/v1",
  path: "acme/docs",
  // services/context/repo.go of go-gitea/gitea, read on 2026-11-17: without a server's name.
  movedAnswer: (_method, location) => ({
    status: 301,
    body: undefined,
    headers: { location: new URL(location).pathname },
  }),
  version: "1.27.2",
  description: asInSource(description),
  refusal,
  repositoryOperation: "GET /repos/{owner}/{repo}",
  tokenOf(authorization) {
    const [scheme, value = ""] = authorization.split(" ");
    if (scheme === "token") return value;
    if (scheme !== "Basic") return null;
    const [name = "", password] = Buffer.from(value, "base64").toString("utf8").split(":");
    return password === "x-oauth-basic" ? name : null;
  },
  handlers: {
    ...giteaCi,
    "GET /repos/{owner}/{repo}": (state) => ({
      status: 200,
      body: {
        id: repositoryId,
        full_name: state.path,
        html_url: `${state.url}/${state.path}`,
        default_branch: "main",
        archived: state.archived,
        has_pull_requests: true,
        permissions: { admin: state.isAdmin, pull: true, push: state.mayPush },
      },
    }),
    "GET /user/repos": (state, { query }) =>
      listedAs(
        state,
        repositoriesOf(state).map((path, id) => ({
          id,
          full_name: path,
          html_url: `${state.url}/${path}`,
          default_branch: "main",
          private: true,
          archived: path.endsWith("-old"),
          permissions: { admin: false, pull: true, push: !path.endsWith("-read") },
        })),
        query,
      ),
    "GET /version": (state) => ({ status: 200, body: { version: state.version } }),
    "GET /user": () => ({ status: 200, body: user("emend-bot") }),
    "GET /repos/{owner}/{repo}/branch_protections": (state) => {
      const rule = {
        enable_push: false,
        enable_push_whitelist: false,
        push_whitelist_usernames: [],
        require_signed_commits: false,
      };
      const closed = state.closedBranches === null ? [] : [{ rule_name: state.closedBranches, ...rule }];
      return { status: 200, body: [{ rule_name: "main", ...rule }, ...closed] };
    },
    "GET /repos/{owner}/{repo}/hooks": (state) =>
      state.hooks === null
        ? { status: 403, body: refusal(403, "user should be the owner of the repo") }
        : {
            status: 200,
            body: state.hooks.map(({ url, isActive }, id) => {
              const config = { url, content_type: "json" };
              return { id, type: "gitea", config, events: ["pull_request"], active: isActive };
            }),
          },
    "GET /repos/{owner}/{repo}/pulls": (state, { query }) => {
      const isWanted = (pull: FarPull) => query.get("state") !== "open" || pull.state === "open";
      const listed = listedAs(state, newestFirst(state.pulls.filter(isWanted)), query);
      return { ...listed, body: listed.body.map((pull) => toWire(state, pull)) };
    },
    // Like Gitea: the first match, which is the oldest.
    "GET /repos/{owner}/{repo}/pulls/{base}/{head}": (state, { parameters }) => {
      const found = state.pulls.find((pull) => pull.base === parameters.base && pull.head === parameters.head);
      return found ? { status: 200, body: toWire(state, found) } : notFound;
    },
    "POST /repos/{owner}/{repo}/statuses/{sha}": (state, { parameters: { sha = "" }, body }) => {
      if (!commitOf(state, sha)) return { status: 400, body: refusal(400, "sha not found") };
      const { state: word, context: name, description, target_url } = body;
      state.statuses.set(`${sha} ${name}`, { name, state: word, words: description, url: target_url });
      const at = new Date(0).toISOString();
      const own = { id: 1, url: `${state.url}/s/1`, creator: user("emend"), created_at: at, updated_at: at };
      return { status: 201, body: { ...own, status: word, context: name, description, target_url } };
    },
    "POST /repos/{owner}/{repo}/pulls": async (state, { body, work }) => {
      if (state.archived) return { status: 423, body: refusal(423, "Repository is archived") };
      const opened = await createPull(state, plainPull(body), work);
      if (opened.kind === "no branch") return notFound;
      if (opened.kind === "exists")
        return { status: 409, body: refusal(409, "pull request already exists for these targets") };
      return { status: 201, body: toWire(state, opened.pull) };
    },
    "GET /repos/{owner}/{repo}/pulls/{index}": (state, { parameters }) => {
      const pull = pullOf(state, parameters.index);
      return pull ? { status: 200, body: toWire(state, pull) } : notFound;
    },
    "PATCH /repos/{owner}/{repo}/pulls/{index}": (state, { parameters, body }) => {
      const pull = pullOf(state, parameters.index);
      if (!pull) return notFound;
      Object.assign(pull, body);
      return { status: 201, body: toWire(state, pull) };
    },
    "POST /repos/{owner}/{repo}/pulls/{index}/merge": (state, { parameters, body }) => {
      const merged = mergePull(state, parameters.index, { head: body.head_commit_id, method: body.do });
      return merged.status === 200
        ? { status: 200, body: {}, text: "" }
        : { status: merged.status, body: refusal(merged.status, merged.words) };
    },
    "GET /repos/{owner}/{repo}/labels": (state, { query }) => listedAs(state, labelsOf(state), query),
    "GET /orgs/{org}/labels": (state, { query }) =>
      state.teams === null ? notFound : listedAs(state, organizationLabelsOf(state), query),
    "GET /repos/{owner}/{repo}/assignees": (state) => {
      const writers = Object.keys(state.people).filter((name) => state.people[name] === "write");
      // Newer releases list the members of every team of an organization, including read-only ones.
      const members = (state.teams ?? []).flatMap((team) => team.members);
      return { status: 200, body: [...new Set([...writers, ...members])].map(user) };
    },
    "GET /repos/{owner}/{repo}/teams": (state) =>
      state.teams === null
        ? { status: 405, body: refusal(405, "repo is not owned by an organization") }
        : {
            status: 200,
            body: state.teams.map(({ name, code }, id) => ({
              id,
              name,
              permission: code,
              units_map: { "repo.code": code, "repo.pulls": "write" },
            })),
          },
    "POST /repos/{owner}/{repo}/issues/{index}/labels": (state, { parameters, body }) => {
      const pull = pullOf(state, parameters.index);
      if (!pull) return notFound;
      const all = [...labelsOf(state), ...organizationLabelsOf(state)];
      const set = all.filter((label) => body.labels.includes(label.id));
      pull.labels = [...new Set([...pull.labels, ...set.map((label) => label.name)])];
      return { status: 200, body: set };
    },
    "POST /repos/{owner}/{repo}/pulls/{index}/requested_reviewers": (state, { parameters, body }) => {
      const pull = pullOf(state, parameters.index);
      if (!pull) return notFound;
      pull.reviewers = [...new Set([...pull.reviewers, ...body.reviewers])];
      return { status: 201, body: [] };
    },
    "GET /repos/{owner}/{repo}/issues/{index}/comments": (state, { parameters, query }) => ({
      status: 200,
      body: commentsOf(state, parameters.index, "remarks", query).map(remarkToWire),
    }),
    "POST /repos/{owner}/{repo}/issues/{index}/comments": (state, { parameters, body }) => {
      return { status: 201, body: remarkToWire(addRemark(state, parameters.index, body.body)) };
    },
    "PATCH /repos/{owner}/{repo}/issues/comments/{id}": (state, { parameters, body }) => {
      const edited = editRemark(state, parameters.id, body.body);
      return edited ? { status: 200, body: remarkToWire(edited) } : notFound;
    },
    "GET /repos/{owner}/{repo}/issues/{index}": (state, { parameters }) => {
      const issue = issueOf(state, parameters.index);
      if (!issue) return notFound;
      const { number, title, body, isOpen } = issue;
      const labels = labelsOnIssue(issue).map((name, id) => ({ id, name }));
      return {
        status: 200,
        body: { number, title, body, state: isOpen ? "open" : "closed", labels, pull_request: null },
      };
    },
    "GET /repos/{owner}/{repo}/issues/{index}/timeline": (state, { parameters, query }) => {
      const issue = issueOf(state, parameters.index);
      if (!issue) return notFound;
      const all = sinceOf(query, issue.labellings).map(({ id, label, author, isAdded, at }) => ({
        id,
        type: "label",
        user: user(author),
        body: isAdded ? "1" : "",
        created_at: at,
        label: { id: 1, name: label },
      }));
      const body = pageOf(all, query, "limit");
      // It counts this page only: ListIssueCommentsAndTimeline in routers/api/v1/repo/issue_comment.go.
      return { status: 200, body, headers: { "x-total-count": String(body.length) } };
    },
    "GET /repos/{owner}/{repo}/pulls/{index}/reviews": (state, { parameters, query }) => {
      const states = { approved: "APPROVED", changes: "REQUEST_CHANGES", comment: "COMMENT", pending: "PENDING" };
      const found = reviewsOf(state, parameters.index).map((review) => ({
        id: review.id,
        user: user(review.author),
        body: review.body,
        state: states[review.state],
        comments_count: review.lines.length,
        submitted_at: review.at,
      }));
      return listedAs(state, found, query);
    },
    "GET /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments": (state, { parameters }) => {
      const review = reviewsOf(state, parameters.index).find(({ id }) => id === Number(parameters.id));
      return { status: 200, body: (review?.lines ?? []).map(lineToWire) };
    },
    // An answer belongs to the review that began the thread: CreateCodeComment in services/pull/review.go, v1.27.2.
    "POST /repos/{owner}/{repo}/pulls/{index}/comments/{id}/replies": (state, { parameters, body }) => {
      const to = state.comments.find(({ id }) => id === Number(parameters.id));
      const reply = to && addReply(state, parameters.index, to.id, body.body);
      if (!reply) return notFound;
      return { status: 201, body: lineToWire(Object.assign(reply, { review: reviewIdOf(to) })) };
    },
    "GET /repos/{owner}/{repo}/collaborators/{collaborator}/permission": (state, { parameters }) => {
      // Gitea shows it to the repository's administrators only.
      if (!state.isAdmin) return { status: 403, body: refusal(403, "Only admins can query all permissions") };
      const permission = state.people[parameters.collaborator ?? ""];
      if (!permission) return notFound;
      return { status: 200, body: { permission, role_name: permission, user: user(parameters.collaborator ?? "") } };
    },
  },
};

/** Forgejo behaves like Gitea, but has its own description. */
export const forgejoVendor: Vendor = {
  ...giteaVendor,
  version: "16.0.0+gitea-1.22.0",
  description: asInSource(forgejoDescription),
};

/** The oldest supported release: it has no draft flag on pull requests, and cannot find them by branch. */
export const olderGiteaVendor: Vendor = {
  ...giteaVendor,
  version: "1.20.0",
  description: asInSource(olderDescription),
  handlers: Object.fromEntries(
    Object.entries(giteaVendor.handlers).map(([operation, handle]) => [
      operation,
      async (state, request) => {
        const { body, ...answer } = await handle(state, request);
        return {
          ...answer,
          body: JSON.parse(JSON.stringify(body), (key, value) => (key === "draft" ? undefined : value)),
        };
      },
    ]),
  ),
};
