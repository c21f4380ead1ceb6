import type { Answer } from "./answer.ts";
import { gitlabCi } from "./ci-results.ts";
import type { FarComment, FarPull, FarState, Vendor } from "./far-end.ts";
import description from "./fixtures/gitlab-api.json" with { type: "json" };
import {
  forkId,
  headOf,
  headPipelineOf,
  listStatuses,
  pipelineToWire,
  postStatus,
  projectId,
} from "./gitlab-pipelines.ts";
import {
  addRemark,
  addReply,
  commitOf,
  createPull,
  editRemark,
  issueOf,
  labelsOnIssue,
  mergeBaseOf,
  mergePull,
  newestFirst,
  pageOf,
  pullOf,
  repositoriesOf,
} from "./pulls.ts";

const refusal = (_status: number, message: string) => ({ message });
const notFound: Answer = { status: 404, body: refusal(404, "404 Not found") };
const people = ["ada", "eve", "emend"];
const personOf = (username: string) => ({ id: people.indexOf(username) + 1, username });

function toWire(state: FarState, pull: FarPull) {
  return {
    id: 5000 + pull.number,
    iid: pull.number,
    project_id: projectId,
    title: pull.title,
    description: pull.body,
    state: pull.state === "open" ? "opened" : pull.state,
    created_at: pull.at,
    updated_at: pull.at,
    merged_at: pull.state === "merged" ? pull.at : null,
    closed_at: pull.state === "closed" ? pull.at : null,
    source_branch: pull.head,
    target_branch: pull.base,
    source_project_id: pull.fork === undefined ? projectId : forkId,
    target_project_id: projectId,
    draft: /^draft:/i.test(pull.title),
    web_url: `${state.url}/${state.path}/-/merge_requests/${pull.number}`,
    labels: pull.labels,
    reviewers: pull.reviewers.map(personOf),
    squash: pull.options.squash === true,
    force_remove_source_branch: pull.options.remove_source_branch === true,
    sha: headOf(state, pull),
    has_conflicts: pull.hasConflicts ?? false,
  };
}

function noteToWire(comment: FarComment) {
  const { id, body, author: username, path, line, at, isInternal = false, isSystem = false } = comment;
  const place = path === undefined ? {} : { position: { new_path: path, new_line: line } };
  const shown = { internal: isInternal, confidential: isInternal };
  return { id, body, system: isSystem, author: personOf(username), created_at: at, ...shown, ...place };
}

const discussionId = (first: number) => first.toString(16).padStart(40, "0");

/** GitLab adds system notes to the comments for people's actions on a merge request, under their names. */
const systemNote = {
  id: 800,
  body: "requested review from @emend",
  system: true,
  author: personOf("ada"),
  created_at: new Date(0).toISOString(),
};

/**
 * By id, the newest first unless asked otherwise. What the reader may not see is left out of a page after it was cut, so
 * a page can be short or empty and not be the last (lib/api/notes.rb of gitlabhq, read on 2026-11-17).
 */
function notesOf(state: FarState, number: string | undefined, query: URLSearchParams): Answer {
  const said = state.comments.filter(({ pull }) => pull === Number(number)).map(noteToWire);
  const isComment = ({ system }: { system: boolean }) => !system;
  const all = query.get("activity_filter") === "only_comments" ? said.filter(isComment) : [systemNote, ...said];
  const sorted = all.toSorted((left, right) => left.id - right.id);
  if (query.get("sort") !== "asc") sorted.reverse();
  const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 20)];
  const next = page * size < sorted.length ? String(page + 1) : "";
  const body = pageOf(sorted, query, "per_page").filter((note) => !note.body.includes(hiddenNote));
  return { status: 200, body, headers: { "x-next-page": next, "x-total": String(sorted.length) } };
}

/** Marks a note that the token's owner may not read. */
export const hiddenNote = "(mentioned in a private project)";

/** GitLab with nested groups: the part of it that Emend uses. */
export const gitlabVendor: Vendor = {
  name: "gitlab",
  apiPath: "/api/v4",
  path: "acme/handbook/docs",
  version: "19.5.0",
  description,
  refusal,
  repositoryOperation: "GET /projects/{id}",
  // Rails adds Rack::ETag and Rack::ConditionalGet to every response. No document says that a 304 is free.
  etags: { isUnmodifiedFree: false },
  // lib/api/helpers.rb of gitlabhq: only what reads is sent on.
  movedAnswer: (method) =>
    method === "GET" ? null : { status: 405, body: refusal(405, "Non GET methods are not allowed for moved projects") },
  tokenOf(authorization) {
    const [scheme, value = ""] = authorization.split(" ");
    if (scheme === "Bearer") return value;
    if (scheme !== "Basic") return null;
    const [user, password = ""] = Buffer.from(value, "base64").toString("utf8").split(":");
    return user === "oauth2" ? password : null;
  },
  handlers: {
    ...gitlabCi,
    "PUT /projects/{id}/merge_requests/{iid}/merge": (state, { parameters, body }) => {
      const merged = mergePull(state, parameters.iid, { head: body.sha });
      if (merged.status !== 200) return { status: merged.status, body: refusal(merged.status, merged.words) };
      return { status: 200, body: toWire(state, merged.pull) };
    },
    "GET /projects/{id}": (state, { parameters }) =>
      parameters.id !== state.path
        ? notFound
        : {
            status: 200,
            body: {
              id: projectId,
              path_with_namespace: state.path,
              web_url: `${state.url}/${state.path}`,
              default_branch: "main",
              archived: state.archived,
              permissions: {
                project_access: state.mayPush === null ? null : { access_level: state.mayPush ? 40 : 20 },
                group_access: null,
              },
            },
          },
    "GET /projects": (state, { query }) => ({
      status: 200,
      body: pageOf(repositoriesOf(state), query, "per_page").map((path, id) => ({
        id,
        path_with_namespace: path,
        web_url: `${state.url}/${path}`,
        default_branch: "main",
      })),
    }),
    "GET /version": (state) => ({ status: 200, body: { version: state.version, revision: "0" } }),
    "GET /user": () => ({ status: 200, body: { id: 3, username: "emend-bot" } }),
    "GET /personal_access_tokens/self": (state) => ({
      status: 200,
      body: {
        id: 1,
        name: "emend",
        revoked: false,
        active: true,
        scopes: ["api", "write_repository"],
        user_id: 3,
        expires_at: state.tokenEndsOn,
      },
    }),
    "GET /projects/{id}/protected_branches": (state) => {
      const levels = [{ access_level: 0, access_level_description: "No one" }];
      const main = {
        id: 1,
        name: "main",
        push_access_levels: levels,
        merge_access_levels: [],
        allow_force_push: false,
      };
      const closed = state.closedBranches === null ? [] : [{ ...main, id: 2, name: state.closedBranches }];
      return { status: 200, body: [main, ...closed] };
    },
    "GET /projects/{id}/hooks": (state) =>
      state.hooks === null
        ? { status: 403, body: refusal(403, "403 Forbidden") }
        : {
            status: 200,
            body: state.hooks.map(({ url, isActive }, id) => ({
              id,
              url,
              merge_requests_events: true,
              note_events: true,
              alert_status: isActive ? "executable" : "disabled",
            })),
          },
    "GET /projects/{id}/merge_requests": (state, { query }) => {
      const head = query.get("source_branch");
      const isWanted = (pull: FarPull) => (head === null ? pull.state === "open" : pull.head === head);
      const found = newestFirst(state.pulls.filter(isWanted));
      return { status: 200, body: pageOf(found, query, "per_page").map((pull) => toWire(state, pull)) };
    },
    "GET /projects/{id}/repository/merge_base": (state, { query }) => {
      const [base = "", head = ""] = query.getAll("refs[]");
      const id = mergeBaseOf(state, base, head);
      if (!id) return { status: 404, body: refusal(404, "404 Merge Base Not Found") };
      return { status: 200, body: { id, short_id: id.slice(0, 8) } };
    },
    "GET /projects/{id}/repository/commits/{sha}": (state, { parameters: { sha = "" } }) => {
      const id = commitOf(state, sha);
      if (!id) return { status: 404, body: refusal(404, "404 Commit Not Found") };
      const [, ...parents] = state.repository.git("rev-list", "--parents", "-n1", id).split(" ");
      return { status: 200, body: { id, short_id: id.slice(0, 8), parent_ids: parents } };
    },
    "GET /projects/{id}/repository/commits/{sha}/statuses": (state, { parameters: { sha = "" }, query }) =>
      listStatuses(state, sha, query),
    "POST /projects/{id}/statuses/{sha}": (state, { parameters: { sha = "" }, body }) => postStatus(state, sha, body),
    "POST /projects/{id}/merge_requests": async (state, { body, work }) => {
      if (state.archived) return { status: 403, body: refusal(403, "403 Forbidden") };
      const { source_branch: head, target_branch: base, title, labels = [], squash, remove_source_branch } = body;
      const wanted = {
        head,
        base,
        title,
        body: body.description,
        draft: false,
        labels,
        reviewers: [],
        options: { squash, remove_source_branch },
      };
      const opened = await createPull(state, wanted, work);
      if (opened.kind === "no branch") return { status: 400, body: { message: { source_branch: ["does not exist"] } } };
      if (opened.kind === "exists") {
        const words = `Another open merge request already exists for this source branch: !${opened.number}`;
        return { status: 409, body: { message: [words] } };
      }
      return { status: 201, body: toWire(state, opened.pull) };
    },
    "GET /projects/{id}/merge_requests/{iid}": (state, { parameters }) => {
      const pull = pullOf(state, parameters.iid);
      if (!pull) return notFound;
      const head_pipeline = pipelineToWire(state, headPipelineOf(state, pull));
      return { status: 200, body: { ...toWire(state, pull), head_pipeline } };
    },
    "PUT /projects/{id}/merge_requests/{iid}": (state, { parameters, body }) => {
      const pull = pullOf(state, parameters.iid);
      if (!pull) return notFound;
      if (body.description !== undefined) pull.body = body.description;
      if (body.state_event === "close" && pull.state === "open") pull.state = "closed";
      if (body.reviewer_ids) pull.reviewers = body.reviewer_ids.map((id: number) => people[id - 1]);
      return { status: 200, body: toWire(state, pull) };
    },
    "GET /users": (_state, { query }) => {
      const found = people.filter((username) => username === query.get("username")?.toLowerCase());
      return { status: 200, body: found.map(personOf) };
    },
    "GET /projects/{id}/merge_requests/{iid}/notes": (state, { parameters, query }) =>
      notesOf(state, parameters.iid, query),
    "POST /projects/{id}/merge_requests/{iid}/notes": (state, { parameters, body }) => {
      return { status: 201, body: noteToWire(addRemark(state, parameters.iid, body.body)) };
    },
    "GET /projects/{id}/merge_requests/{iid}/discussions": (state, { parameters, query }) => {
      const said = state.comments.filter(({ pull }) => pull === Number(parameters.iid));
      const threads = said.filter(({ replyTo }) => replyTo === undefined);
      const body = pageOf(threads, query, "per_page").map((first) => ({
        id: discussionId(first.id),
        individual_note: first.path === undefined,
        notes: said.filter(({ id, replyTo }) => id === first.id || replyTo === first.id).map(noteToWire),
      }));
      return { status: 200, body, headers: { "x-total": String(threads.length) } };
    },
    "POST /projects/{id}/merge_requests/{iid}/discussions/{discussion_id}/notes": (state, { parameters, body }) => {
      const first = state.comments.find(({ id }) => discussionId(id) === parameters.discussion_id);
      const reply = first && addReply(state, parameters.iid, first.id, body.body);
      return reply ? { status: 201, body: noteToWire(reply) } : notFound;
    },
    "GET /projects/{id}/issues/{iid}": (state, { parameters }) => {
      const issue = issueOf(state, parameters.iid);
      if (!issue) return notFound;
      const { number, title, body, isOpen, isConfidential = false } = issue;
      const at = new Date(0).toISOString();
      const times = { created_at: at, updated_at: at };
      const place = { id: 7000 + number, iid: number, project_id: projectId, web_url: `${state.url}/issues/${number}` };
      const own = { title, description: body, state: isOpen ? "opened" : "closed", confidential: isConfidential };
      return {
        status: 200,
        body: { ...place, ...times, ...own, labels: labelsOnIssue(issue), author: personOf("eve") },
      };
    },
    "GET /projects/{id}/issues/{iid}/resource_label_events": (state, { parameters, query }) => {
      const issue = issueOf(state, parameters.iid);
      if (!issue) return notFound;
      const body = issue.labellings.map(({ id, label, author, isAdded, at }) => ({
        id,
        user: personOf(author),
        created_at: at,
        resource_type: "Issue",
        resource_id: 7000 + issue.number,
        label: { id: 1, name: label },
        action: isAdded ? "add" : "remove",
      }));
      return { status: 200, body: pageOf(body, query, "per_page") };
    },
    "GET /projects/{id}/issues/{iid}/notes": (state, { parameters, query }) => notesOf(state, parameters.iid, query),
    "POST /projects/{id}/issues/{iid}/notes": (state, { parameters, body }) => {
      return { status: 201, body: noteToWire(addRemark(state, parameters.iid, body.body)) };
    },
    "PUT /projects/{id}/issues/{iid}/notes/{note_id}": (state, { parameters, body }) => {
      const edited = editRemark(state, parameters.note_id, body.body);
      return edited ? { status: 200, body: noteToWire(edited) } : notFound;
    },
    "GET /projects/{id}/members/all": (state, { query }) => {
      const found = Object.entries(state.people).filter(([name]) => name.includes(query.get("query") ?? ""));
      const body = found.map(([username, right]) => ({
        ...personOf(username),
        access_level: right === "write" ? 30 : 20,
        state: "active",
      }));
      return { status: 200, body };
    },
  },
};
