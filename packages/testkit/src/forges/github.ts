import type { Answer } from "./answer.ts";
import { githubCi } from "./ci-results.ts";
import type { FarComment, FarPull, FarState, Vendor } from "./far-end.ts";
import description from "./fixtures/github-api.json" with { type: "json" };
import { gitDataHandlers, updateRefs } from "./git-data.ts";
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
  tipOf,
} from "./pulls.ts";

const repositoryId = 101;
const refusal = (_status: number, message: string) => ({ message, documentation_url: "https://docs.github.com/rest" });
const notFound: Answer = { status: 404, body: refusal(404, "Not Found") };

function invalid(message: string): Answer {
  const errors = [{ resource: "PullRequest", code: "custom", message }];
  return { status: 422, body: { ...refusal(422, "Validation Failed"), errors } };
}

function toWire(state: FarState, pull: FarPull) {
  const branch = (ref: string) => ({
    label: `acme:${ref}`,
    ref,
    sha: tipOf(state, ref) ?? "0".repeat(40),
    repo: { id: repositoryId, full_name: state.path },
  });
  return {
    url: `${state.url}/api/v3/repos/${state.path}/pulls/${pull.number}`,
    id: 1000 + pull.number,
    node_id: "PR_x",
    html_url: `${state.url}/${state.path}/pull/${pull.number}`,
    number: pull.number,
    state: pull.state === "open" ? "open" : "closed",
    locked: false,
    title: pull.title,
    body: pull.body,
    created_at: pull.at,
    updated_at: pull.at,
    closed_at: pull.state === "open" ? null : pull.at,
    merged_at: pull.state === "merged" ? pull.at : null,
    merge_commit_sha: null,
    mergeable_state: pull.hasConflicts ? "dirty" : "clean",
    draft: pull.draft,
    requested_reviewers: pull.reviewers.map((login) => ({ login })),
    // The example's team lacks a field that the description requires.
    requested_teams: [],
    head: branch(pull.head),
    base: branch(pull.base),
    user: { login: "emend" },
    author_association: "MEMBER",
  };
}

/** The links to other pages. Absent if there is only one page. */
function linksOf({ url }: FarState, count: number, query: URLSearchParams): Record<string, string> {
  const [page, pages] = [Number(query.get("page") ?? 1), Math.ceil(count / Number(query.get("per_page") ?? 30))];
  const next = page < pages ? [`<${url}?page=${page + 1}>; rel="next"`, `<${url}?page=${pages}>; rel="last"`] : [];
  return pages > 1 ? { link: [`<${url}?page=1>; rel="first"`, ...next].join(", ") } : {};
}

function commentToWire(state: FarState, comment: FarComment) {
  const url = `${state.url}/${state.path}/pull/${comment.pull}#${comment.id}`;
  const { id, body, path, line, at } = comment;
  const side = comment.isRemovedLine ? "LEFT" : "RIGHT";
  const own = { pull_request_review_id: reviewIdOf(comment), in_reply_to_id: comment.replyTo };
  const place = path === undefined ? {} : { path, line, side, ...own };
  return {
    id,
    node_id: "C_x",
    url,
    html_url: url,
    body,
    user: { login: comment.author, type: comment.author.endsWith("[bot]") ? "Bot" : "User" },
    created_at: at,
    updated_at: at,
    ...place,
  };
}

/** The description asks for the fields of people and of enterprises at once. */
const account = { login: "acme", id: 9, type: "Organization", url: "https://github.test/acme", name: "a", slug: "a" };

/** A repository in a list. */
function listed(state: FarState, path: string) {
  return {
    id: repositoryId,
    name: path.split("/")[1],
    full_name: path,
    html_url: `${state.url}/${path}`,
    url: `${state.url}/api/v3/repos/${path}`,
    default_branch: "main",
    private: true,
    archived: path.endsWith("-old"),
    permissions: { admin: false, pull: true, push: !path.endsWith("-read") },
  };
}

/** GitHub Enterprise Server: the part of it that Emend uses. */
export const githubVendor: Vendor = {
  name: "github",
  apiPath: "/api/v3",
  graph: { path: "/api/graphql", handle: updateRefs },
  path: "acme/docs",
  description,
  refusal,
  repositoryOperation: "GET /repos/{owner}/{repo}",
  // github/docs, content/rest/using-the-rest-api/best-practices-for-using-the-rest-api.md at 058fa63: "Making a conditional
  // request does not count against your primary rate limit if a 304 response is returned."
  etags: { isUnmodifiedFree: true },
  ratePrefix: "x-ratelimit",
  isAppRequest: (path) => /\/(installation$|app$|app\/|app-manifests\/|users\/)/.test(path),
  requiredHeaders: { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" },
  tokenOf(authorization) {
    const [scheme, value = ""] = authorization.split(" ");
    if (scheme === "Bearer") return value;
    if (scheme !== "Basic") return null;
    const [user, password = ""] = Buffer.from(value, "base64").toString("utf8").split(":");
    return user === "x-access-token" ? password : null;
  },
  handlers: {
    ...gitDataHandlers,
    ...githubCi,
    "GET /repos/{owner}/{repo}": (state, { token }) => ({
      status: 200,
      body: {
        id: repositoryId,
        full_name: state.path,
        html_url: `${state.url}/${state.path}`,
        default_branch: "main",
        language: null,
        archived: state.archived,
        private: true,
        // GitHub never tells an installation token that it may push.
        permissions: { admin: false, pull: true, push: state.mayPush && !state.issued.includes(token) },
      },
    }),
    "GET /user": (state) => ({
      status: 200,
      body: { login: "emend-bot", id: 8, type: "User" },
      ...(state.tokenEndsOn && {
        headers: { "github-authentication-token-expiration": `${state.tokenEndsOn} 00:00:00 UTC` },
      }),
    }),
    "GET /repos/{owner}/{repo}/rules/branches/{branch}": (state) => ({
      status: 200,
      body:
        state.closedBranches === null
          ? [{ type: "deletion" }]
          : [{ type: "creation" }, { type: "required_signatures" }],
    }),
    "GET /repos/{owner}/{repo}/hooks": (state) =>
      state.hooks === null
        ? notFound
        : {
            status: 200,
            body: state.hooks.map(({ url, isActive, lastStatus: code }, id) => ({
              type: "Repository",
              id,
              name: "web",
              active: isActive,
              events: ["pull_request"],
              config: { url, content_type: "json" },
              last_response: { code, status: "active", message: null },
            })),
          },
    "GET /repos/{owner}/{repo}/pulls": (state, { query }) => {
      const head = query.get("head")?.split(":")[1];
      const isWanted = (pull: FarPull) => (head === undefined ? pull.state === "open" : pull.head === head);
      const found = newestFirst(state.pulls.filter(isWanted));
      return { status: 200, body: pageOf(found, query, "per_page").map((pull) => toWire(state, pull)) };
    },
    "GET /repos/{owner}/{repo}/compare/{basehead}": (state, { parameters }) => {
      const [base = "", head = ""] = (parameters.basehead ?? "").split("...");
      const parted = mergeBaseOf(state, base, head);
      if (!parted) return notFound;
      const url = `${state.url}/api/v3/repos/${state.path}`;
      const commit = {
        url,
        sha: parted,
        node_id: "C_x",
        html_url: url,
        comments_url: url,
        commit: { url, author: null, committer: null, message: "m", comment_count: 0, tree: { sha: parted, url } },
        author: null,
        committer: null,
        parents: [],
      };
      const urls = { url, html_url: url, permalink_url: url, diff_url: url, patch_url: url };
      const counts = { status: "ahead", ahead_by: 1, behind_by: 0, total_commits: 1, commits: [] };
      return { status: 200, body: { ...urls, ...counts, base_commit: commit, merge_base_commit: commit } };
    },
    "POST /repos/{owner}/{repo}/statuses/{sha}": (state, { parameters: { sha = "" }, body }) => {
      if (!commitOf(state, sha)) return notFound;
      const { state: word, context: name, description, target_url } = body;
      state.statuses.set(`${sha} ${name}`, { name, state: word, words: description, url: target_url });
      const url = `${state.url}/api/v3/repos/${state.path}/statuses/${sha}`;
      const at = new Date(0).toISOString();
      const own = { id: 1, node_id: "SC_x", url, avatar_url: null, creator: null, created_at: at, updated_at: at };
      return { status: 201, body: { ...own, state: word, context: name, description, target_url } };
    },
    "POST /repos/{owner}/{repo}/pulls": async (state, { body, work }) => {
      if (state.archived) return { status: 403, body: refusal(403, "Repository was archived so is read-only.") };
      if (body.draft && !state.draftsSupported)
        return invalid("Draft pull requests are not supported in this repository.");
      const opened = await createPull(state, plainPull(body), work);
      if (opened.kind === "no branch") return invalid("The head or base branch could not be found.");
      if (opened.kind === "exists") return invalid(`A pull request already exists for acme:${body.head}.`);
      return { status: 201, body: toWire(state, opened.pull) };
    },
    "GET /repos/{owner}/{repo}/pulls/{pull_number}": (state, { parameters }) => {
      const pull = pullOf(state, parameters.pull_number);
      return pull ? { status: 200, body: toWire(state, pull) } : notFound;
    },
    "PATCH /repos/{owner}/{repo}/pulls/{pull_number}": (state, { parameters, body }) => {
      const pull = pullOf(state, parameters.pull_number);
      if (!pull) return notFound;
      Object.assign(pull, body);
      return { status: 200, body: toWire(state, pull) };
    },
    "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge": (state, { parameters, body }) => {
      const merged = mergePull(state, parameters.pull_number, { head: body.sha, method: body.merge_method });
      if (merged.status !== 200) return { status: merged.status, body: refusal(merged.status, merged.words) };
      return { status: 200, body: { sha: body.sha, merged: true, message: "Pull Request successfully merged" } };
    },
    "POST /repos/{owner}/{repo}/issues/{issue_number}/labels": (state, { parameters, body }) => {
      const pull = pullOf(state, parameters.issue_number);
      if (!pull) return notFound;
      pull.labels = [...new Set([...pull.labels, ...body.labels])];
      return { status: 200, body: pull.labels.map((name, id) => ({ id, name })) };
    },
    "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers": (state, { parameters, body }) => {
      const pull = pullOf(state, parameters.pull_number);
      if (!pull) return notFound;
      if (body.reviewers.some((name: string) => !state.people[name])) {
        return { status: 422, body: refusal(422, "Reviews may only be requested from collaborators.") };
      }
      pull.reviewers = [...new Set([...pull.reviewers, ...body.reviewers])];
      return { status: 201, body: toWire(state, pull) };
    },
    "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": (state, { parameters, query }) => {
      const found = commentsOf(state, parameters.issue_number, "remarks", query);
      const body = pageOf(found, query, "per_page").map((comment) => commentToWire(state, comment));
      return { status: 200, body, headers: linksOf(state, found.length, query) };
    },
    "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": (state, { parameters, body }) => {
      return { status: 201, body: commentToWire(state, addRemark(state, parameters.issue_number, body.body)) };
    },
    "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": (state, { parameters, body }) => {
      const edited = editRemark(state, parameters.comment_id, body.body);
      return edited ? { status: 200, body: commentToWire(state, edited) } : notFound;
    },
    "GET /repos/{owner}/{repo}/issues/{issue_number}": (state, { parameters }) => {
      const issue = issueOf(state, parameters.issue_number);
      const pull = pullOf(state, parameters.issue_number);
      if (!issue && !pull) return notFound;
      const url = `${state.url}/api/v3/repos/${state.path}/issues/${parameters.issue_number}`;
      return {
        status: 200,
        body: {
          number: Number(parameters.issue_number),
          title: issue?.title ?? pull?.title,
          body: issue?.body ?? pull?.body,
          state: issue?.isOpen ? "open" : "closed",
          labels: issue ? labelsOnIssue(issue).map((name, id) => ({ id, name })) : [],
          // The example is a pull request.
          pull_request: pull && { url, html_url: url, diff_url: url, patch_url: url },
        },
      };
    },
    "GET /repos/{owner}/{repo}/issues/{issue_number}/events": (state, { parameters, query }) => {
      const issue = issueOf(state, parameters.issue_number);
      if (!issue) return notFound;
      const body = issue.labellings.map(({ id, label, author, isAdded, at }) => ({
        id,
        actor: { login: author, type: author.endsWith("[bot]") ? "Bot" : "User" },
        event: isAdded ? "labeled" : "unlabeled",
        created_at: at,
        label: { name: label, color: "fff" },
        performed_via_github_app: null,
      }));
      return { status: 200, body: pageOf(body, query, "per_page") };
    },
    "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments": (state, { parameters, query }) => {
      const found = commentsOf(state, parameters.pull_number, "reviews");
      return { status: 200, body: pageOf(found, query, "per_page").map((comment) => commentToWire(state, comment)) };
    },
    "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies": (state, { parameters, body }) => {
      const to = state.comments.find(({ id }) => id === Number(parameters.comment_id));
      // "Replies to replies are not supported."
      const reply =
        to?.replyTo === undefined ? addReply(state, parameters.pull_number, to?.id ?? 0, body.body) : undefined;
      return reply?.path === undefined ? notFound : { status: 201, body: commentToWire(state, reply) };
    },
    "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews": (state, { parameters, query }) => {
      const states = { approved: "APPROVED", changes: "CHANGES_REQUESTED", comment: "COMMENTED", pending: "PENDING" };
      const found = reviewsOf(state, parameters.pull_number).map((review) => ({
        id: review.id,
        user: { login: review.author },
        body: review.body,
        state: states[review.state],
        submitted_at: review.at,
      }));
      return { status: 200, body: pageOf(found, query, "per_page") };
    },
    "GET /repos/{owner}/{repo}/collaborators/{username}/permission": (state, { parameters }) => {
      const permission = state.people[parameters.username ?? ""];
      return permission ? { status: 200, body: { permission, role_name: permission, user: null } } : notFound;
    },
    "GET /user/repos": (state, { query }) => ({
      status: 200,
      body: pageOf(repositoriesOf(state), query, "per_page").map((path) => listed(state, path)),
    }),
    "GET /app/installations": (state) => ({
      status: 200,
      body: state.app.installed ? [{ id: 77, app_id: 5, account, permissions: state.app.granted }] : [],
    }),
    "GET /installation/repositories": (state, { query, token }) => {
      if (!state.issued.includes(token)) return { status: 403, body: refusal(403, "Resource not accessible") };
      const found = repositoriesOf(state);
      const repositories = pageOf(found, query, "per_page").map((path) => ({
        ...listed(state, path),
        permissions: { admin: false, pull: false, push: false },
      }));
      return { status: 200, body: { total_count: found.length, repositories } };
    },
    "GET /users/{username}": () => ({ status: 200, body: { login: "acme", id: 9, type: "Organization" } }),
    "POST /app-manifests/{code}/conversions": (state, { parameters }) => {
      if (state.app.code === null || parameters.code !== state.app.code) return notFound;
      state.app.code = null;
      const body = {
        id: 5,
        slug: "emend",
        node_id: "A_x",
        name: "Emend for docs",
        html_url: `${state.url}/apps/emend`,
      };
      const secrets = { client_id: "Iv1", client_secret: "s", webhook_secret: null, pem: state.app.privateKey };
      return { status: 201, body: { ...body, ...secrets } };
    },
    "PATCH /app/hook/config": (state, { body }) => {
      state.app.hook = body;
      return { status: 200, body: { ...body, secret: "********" } };
    },
    "GET /repos/{owner}/{repo}/installation": (state) =>
      state.app.installed ? { status: 200, body: { id: 77, app_id: 5, permissions: state.app.granted } } : notFound,
    "GET /app": (state) => (state.app.isDeleted ? notFound : { status: 200, body: { id: 5, slug: "emend" } }),
    "POST /app/installations/{installation_id}/access_tokens": (state, { body }) => {
      const { granted } = state.app;
      const isMore = ([name, right]: [string, unknown]) => granted[name] !== "write" && granted[name] !== right;
      if (Object.entries(body.permissions).some(isMore)) {
        return { status: 422, body: refusal(422, "The permissions requested are not granted to this installation.") };
      }
      const token = `ghs_${state.issued.length + 1}`;
      const minutes = state.issued.length === 0 ? 5 : 60;
      state.issued.push(token);
      const expires_at = new Date(Date.now() + minutes * 60_000).toISOString();
      return { status: 201, body: { token, expires_at, permissions: state.app.tokenSays ?? body.permissions } };
    },
  },
};
