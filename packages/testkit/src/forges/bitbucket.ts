import { randomBytes } from "node:crypto";
import type { Answer } from "./answer.ts";
import type { ApiDescription } from "./api-judge.ts";
import { bitbucketBuilds } from "./ci-results.ts";
import type { FarComment, FarPull, FarState, Vendor } from "./far-end.ts";
import published from "./fixtures/bitbucket-api.json" with { type: "json" };
import { addRemark, addReply, commitOf, createPull, mergeBaseOf, newestFirst, pageOf, pullOf, tipOf } from "./pulls.ts";

const email = "emend@acme.test";
const repository = "/repositories/{workspace}/{repo_slug}";
const pulls = `${repository}/pullrequests`;
const rights = "/workspaces/{workspace}/permissions/repositories/{repo_slug}";
const refusal = (_status: number, message: string) => ({ type: "error", error: { message } });
const notFound: Answer = { status: 404, body: refusal(404, "Resource not found") };
const uuidOf = (name: string) => `{${name}}`;
const account = (name: string) => ({ type: "user", display_name: name, uuid: uuidOf(name), account_id: name });
const nameOf = ({ uuid }: { uuid: string }) => uuid.slice(1, -1);

function toWire(state: FarState, pull: FarPull) {
  const branch = (name: string) => ({
    branch: { name },
    // The first twelve digits, as Bitbucket abbreviates here.
    commit: { hash: (tipOf(state, name) ?? "0".repeat(12)).slice(0, 12) },
    repository: { type: "repository", full_name: state.path, uuid: "{repository}" },
  });
  return {
    type: "pullrequest",
    id: pull.number,
    title: pull.title,
    description: pull.body,
    summary: { raw: pull.body, markup: "markdown", html: "" },
    state: { open: "OPEN", merged: "MERGED", closed: "DECLINED" }[pull.state],
    draft: pull.draft,
    created_on: pull.at,
    updated_on: pull.at,
    source: branch(pull.head),
    destination: branch(pull.base),
    author: account("emend"),
    close_source_branch: pull.options.close_source_branch === true,
    links: { html: { href: `${state.url}/${state.path}/pull-requests/${pull.number}` } },
  };
}

/** Only a single pull request has reviewers and participants, as the description says of the former. */
function wholeToWire(state: FarState, pull: FarPull) {
  const approved = state.reviews.filter((review) => review.pull === pull.number && review.state === "approved");
  return {
    ...toWire(state, pull),
    reviewers: pull.reviewers.map(account),
    participants: approved.map(({ author, at }) => ({
      type: "participant",
      user: account(author),
      role: "REVIEWER",
      approved: true,
      state: "approved",
      participated_on: at,
    })),
  };
}

function commentToWire({ id, body, author, at, path, line, isRemovedLine }: FarComment) {
  // The description says that absent lines are null, but its schema has numbers: left out here.
  const inline = path === undefined ? {} : { inline: { path, [isRemovedLine ? "from" : "to"]: line } };
  const content = { raw: body, markup: "markdown", html: "" };
  return { type: "pullrequest_comment", id, created_on: at, content, user: account(author), deleted: false, ...inline };
}

/** A page with a link to the next one, which keeps the query. */
function paged(state: FarState, items: readonly unknown[], query: URLSearchParams, path: string): Answer {
  const page = Number(query.get("page") ?? 1);
  const size = Math.min(Number(query.get("pagelen") ?? 10), state.pageSizeMax);
  const values = pageOf(items, new URLSearchParams({ pagelen: String(size), page: String(page) }), "pagelen");
  const next = new URL(`${state.url}/2.0${path}`);
  for (const [name, value] of query) if (name !== "page") next.searchParams.append(name, value);
  next.searchParams.set("page", String(page + 1));
  const hasMore = page * size < items.length;
  return { status: 200, body: { values, pagelen: size, page, ...(hasMore && { next: next.href }) } };
}

/** `field = "text"`, as the documentation of filtering has it. */
function askedFor(query: URLSearchParams): string {
  return JSON.parse(/^source\.branch\.name = (".*")$/.exec(query.get("q") ?? "")?.[1] ?? '""');
}

const sorted = [`GET ${pulls}`, `GET ${pulls}/{pull_request_id}/comments`];

/**
 * What the published description says in prose and not in its schemas. Every list accepts `pagelen` and `page`, and lists of
 * pull requests and of their comments accept `q` and `sort`: chapters "Pagination" and "Filtering and sorting". A request needs none of the fields
 * that its response has, `type` included: "you only need to include the elements you want to initialize".
 */
function asInWords(described: ApiDescription): ApiDescription {
  const text = { type: "string" };
  const operations = Object.entries(described.operations).map(([name, operation]) => {
    const listed = { pagelen: text, page: text, ...(sorted.includes(name) && { q: text, sort: text }) };
    return [
      name,
      {
        ...operation,
        ...(name.startsWith("GET") && { query: { ...operation.query, ...listed } }),
        ...(operation.request && {
          request: JSON.parse(JSON.stringify(operation.request), (key, value) =>
            key === "required" && Array.isArray(value) ? undefined : value,
          ),
        }),
      },
    ];
  });
  // Declining is documented, but not in the copy: no body, and the pull request as the answer.
  const { responses } = described.operations[`GET ${pulls}/{pull_request_id}`] ?? { responses: {} };
  const declining = { [`POST ${pulls}/{pull_request_id}/decline`]: { responses } };
  return { ...described, operations: { ...Object.fromEntries(operations), ...declining } };
}

/** Bitbucket Cloud: the part of it that Emend uses. By default with an administrator's API token. */
export const bitbucketVendor: Vendor = {
  name: "bitbucket",
  apiPath: "/2.0",
  path: "acme/docs",
  description: asInWords(published as unknown as ApiDescription),
  refusal,
  repositoryOperation: `GET ${repository}`,
  newToken: () => `${email}:tok_${randomBytes(12).toString("hex")}`,
  tokenOf(authorization) {
    const [scheme, value = ""] = authorization.split(" ");
    if (scheme === "Bearer") return value;
    if (scheme !== "Basic") return null;
    const [user, password = ""] = Buffer.from(value, "base64").toString("utf8").split(":");
    if (user === "x-token-auth") return password;
    return user === email || user === "x-bitbucket-api-token-auth" ? `${email}:${password}` : null;
  },
  handlers: {
    [`GET ${repository}`]: (state) => {
      const scopes = state.mayPush ? "repository:write, pullrequest:write" : "repository, pullrequest";
      return {
        status: 200,
        // support.atlassian.com, "How to fetch the scope of a token via command line".
        headers: { "x-oauth-scopes": scopes },
        body: {
          type: "repository",
          uuid: "{repository}",
          full_name: state.path,
          mainbranch: { type: "branch", name: "main" },
          links: { html: { href: `${state.url}/${state.path}` } },
        },
      };
    },
    [`GET ${repository}/commit/{commit}`]: (state, { parameters: { commit = "" } }) => {
      const hash = commitOf(state, commit);
      return hash ? { status: 200, body: { type: "commit", hash } } : notFound;
    },
    [`GET ${repository}/merge-base/{revspec}`]: (state, { parameters: { revspec = "" } }) => {
      const [base = "", head = ""] = revspec.split("..");
      const hash = mergeBaseOf(state, base, head);
      return hash ? { status: 200, body: { type: "commit", hash } } : notFound;
    },
    [`GET ${repository}/commit/{commit}/statuses`]: (state, { parameters: { commit = "" }, query }) =>
      commitOf(state, commit)
        ? paged(state, bitbucketBuilds(state, commit), query, `/repositories/${state.path}/commit/${commit}/statuses`)
        : notFound,
    [`POST ${repository}/commit/{commit}/statuses/build`]: (state, { parameters: { commit = "" }, body }) => {
      if (!commitOf(state, commit)) return notFound;
      const { key, name, state: word, description, url } = body;
      state.statuses.set(`${commit} ${key}`, { name, state: word, words: description, url });
      const at = new Date(0).toISOString();
      return {
        status: 201,
        body: { type: "build", key, name, state: word, description, url, created_on: at, updated_on: at },
      };
    },
    "GET /user": (_state, { token }) =>
      token.includes(":")
        ? { status: 200, body: account("emend-bot") }
        : { status: 403, body: refusal(403, "Your credentials lack one or more required privilege scopes.") },
    "GET /users/{selected_user}": (state, { parameters: { selected_user: name = "" } }) =>
      name in state.people ? { status: 200, body: account(name) } : notFound,
    [`GET ${repository}/branch-restrictions`]: (state, { query }) => {
      const rule = { type: "branchrestriction", kind: query.get("kind") ?? "push", branch_match_kind: "glob" };
      const closed =
        state.closedBranches === null ? [] : [{ ...rule, id: 2, pattern: state.closedBranches, users: [] }];
      const main = { ...rule, id: 1, pattern: "main", users: [], groups: [] };
      return paged(state, [main, ...closed], query, `/repositories/${state.path}/branch-restrictions`);
    },
    [`GET ${repository}/hooks`]: (state, { query }) => {
      if (state.hooks === null) return { status: 403, body: refusal(403, "Access denied") };
      const hooks = state.hooks.map(({ url, isActive }) => ({
        type: "webhook_subscription",
        url,
        active: isActive,
        events: ["pullrequest:comment_created"],
      }));
      return paged(state, hooks, query, `/repositories/${state.path}/hooks`);
    },
    [`GET ${pulls}`]: (state, { query }) => {
      const states = query.getAll("state").length > 0 ? query.getAll("state") : ["OPEN"];
      const found = newestFirst(state.pulls.filter(({ head }) => !query.has("q") || head === askedFor(query)))
        .map((pull) => toWire(state, pull))
        .filter((pull) => states.includes(pull.state));
      return paged(state, found, query, `/repositories/${state.path}/pullrequests`);
    },
    [`POST ${pulls}`]: async (state, { body, work }) => {
      const [head, base] = [body.source.branch.name, body.destination.branch.name];
      const { title, description, draft = false, close_source_branch } = body;
      const wanted = { head, base, title, body: description, draft, labels: [], reviewers: [] };
      const opened = await createPull(state, { ...wanted, options: { close_source_branch } }, work);
      if (opened.kind === "no branch") {
        return { status: 400, body: refusal(400, `source.branch.name: branch not found: ${head}`) };
      }
      if (opened.kind === "opened") return { status: 201, body: wholeToWire(state, opened.pull) };
      // It updates the existing one without saying so: Sourcegraph's bitbucketcloud source found that out.
      const there = pullOf(state, String(opened.number)) as FarPull;
      Object.assign(there, { title, body: description, draft });
      return { status: 201, body: wholeToWire(state, there) };
    },
    [`GET ${pulls}/{pull_request_id}`]: (state, { parameters }) => {
      const pull = pullOf(state, parameters.pull_request_id);
      return pull ? { status: 200, body: wholeToWire(state, pull) } : notFound;
    },
    [`PUT ${pulls}/{pull_request_id}`]: (state, { parameters, body }) => {
      const pull = pullOf(state, parameters.pull_request_id);
      if (!pull) return notFound;
      if (pull.state !== "open") return { status: 400, body: refusal(400, "Only open pull requests can be mutated") };
      if (body.title === undefined) return { status: 400, body: refusal(400, "title: required key not provided") };
      // Omitted fields are removed: Renovate's bitbucket platform found that out for reviewers.
      pull.reviewers = (body.reviewers ?? []).map(nameOf);
      Object.assign(pull, { title: body.title, body: body.description ?? "", draft: body.draft ?? false });
      return { status: 200, body: wholeToWire(state, pull) };
    },
    [`POST ${pulls}/{pull_request_id}/decline`]: (state, { parameters }) => {
      const pull = pullOf(state, parameters.pull_request_id);
      if (!pull) return notFound;
      if (pull.state !== "open") return { status: 400, body: refusal(400, "This pull request is already closed.") };
      pull.state = "closed";
      return { status: 200, body: wholeToWire(state, pull) };
    },
    [`GET ${pulls}/{pull_request_id}/comments`]: (state, { parameters, query }) => {
      const number = parameters.pull_request_id;
      const said = state.comments.filter(({ pull }) => pull === Number(number)).map(commentToWire);
      if (query.get("sort") === "-created_on") said.reverse();
      return paged(state, said, query, `/repositories/${state.path}/pullrequests/${number}/comments`);
    },
    [`POST ${pulls}/{pull_request_id}/comments`]: (state, { parameters, body }) => {
      const [number, text] = [parameters.pull_request_id, body.content.raw];
      const said = body.parent ? addReply(state, number, body.parent.id, text) : addRemark(state, number, text);
      return said ? { status: 201, body: commentToWire(said) } : { status: 404, body: refusal(404, "No such comment") };
    },
    [`GET ${rights}`]: (state, { token, query }) => {
      // An access token may not read anybody's permissions.
      if (!token.includes(":")) return { status: 403, body: refusal(403, "Access denied") };
      const found = Object.entries(state.people)
        .filter(([, right]) => query.get("q") !== 'permission>"read"' || right !== "read")
        .map(([name, permission]) => ({ type: "repository_permission", permission, user: account(name) }));
      return paged(state, found, query, `/workspaces/acme/permissions/repositories/docs`);
    },
  },
};
