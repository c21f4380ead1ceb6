import type { Answer } from "./answer.ts";
import type { ApiDescription } from "./api-judge.ts";
import { azureDevopsCi } from "./ci-results.ts";
import type { FarComment, FarPull, FarState, Vendor } from "./far-end.ts";
import build from "./fixtures/azure-devops-build-api.json" with { type: "json" };
import git from "./fixtures/azure-devops-git-api.json" with { type: "json" };
import hooks from "./fixtures/azure-devops-hooks-api.json" with { type: "json" };
import identities from "./fixtures/azure-devops-identities-api.json" with { type: "json" };
import security from "./fixtures/azure-devops-security-api.json" with { type: "json" };
import {
  addRemark,
  addReply,
  commitOf,
  createPull,
  mergeBaseOf,
  mergePull,
  newestFirst,
  pullOf,
  tipOf,
} from "./pulls.ts";

const repository = "/{project}/_apis/git/repositories/{repositoryId}";
const pulls = `${repository}/pullrequests`;
/** The description spells it in two ways; Azure DevOps reads both. */
const pull = `${repository}/pullRequests/{pullRequestId}`;
const ids = { repository: "3411ebc1-d5aa-464f-9615-0b527bc66719", project: "a7573007-bbb3-4341-b726-0c4148a07853" };
const gitNamespace = "2e9eb7ed-3c0a-47d4-87c1-0f9bdf8b60c5";
const contribute = 4;

/** What an error looks like: dependabot/dependabot-core#2747 quotes one in full. */
function refusal(_status: number, message: string, typeKey = "VssServiceException") {
  return { $id: "1", innerException: null, message, typeName: typeKey, typeKey, errorCode: 0, eventId: 3000 };
}
const refused = (status: number, message: string, typeKey: string): Answer => ({
  status,
  body: refusal(status, message, typeKey),
});
const noPull = refused(404, "TF401180: The requested pull request was not found.", "GitPullRequestNotFoundException");
const noCommit = refused(
  404,
  "TF401175: The version descriptor could not be resolved.",
  "GitUnresolvableToCommitException",
);
const denied = refused(
  403,
  "TF400813: The user is not authorized to access this resource.",
  "UnauthorizedRequestException",
);

const enveloped = (value: readonly unknown[]): Answer => ({ status: 200, body: { count: value.length, value } });
const identity = (name: string) => ({ id: name, displayName: name, uniqueName: `${name}@acme.test` });
const words = { open: "active", merged: "completed", closed: "abandoned" } as const;
const nameIn = (ref: string) => ref.replace(/^refs\/heads\//, "");

function toWire(state: FarState, one: FarPull) {
  const tip = (branch: string) => tipOf(state, branch);
  const [source, target] = [tip(one.head), tip(one.base)];
  return {
    repository: { id: ids.repository, name: "docs", project: { id: ids.project, name: "site" } },
    pullRequestId: one.number,
    status: words[one.state],
    createdBy: identity("emend"),
    creationDate: one.at,
    title: one.title,
    description: one.body,
    sourceRefName: `refs/heads/${one.head}`,
    targetRefName: `refs/heads/${one.base}`,
    isDraft: one.draft,
    mergeStatus: one.hasConflicts ? "conflicts" : "succeeded",
    ...(source && { lastMergeSourceCommit: { commitId: source } }),
    ...(target && { lastMergeTargetCommit: { commitId: target } }),
    reviewers: one.reviewers.map((name) => ({ ...identity(name), vote: 0 })),
    ...(one.fork && { forkSource: { name: `refs/heads/${one.head}`, repository: { id: "fork", name: one.fork } } }),
    url: `${state.url}/acme/_apis/git/repositories/${ids.repository}/pullRequests/${one.number}`,
  };
}

/** "Please note that description field will be truncated up to 400 symbols in the result." */
function asListed(wire: ReturnType<typeof toWire>) {
  return { ...wire, description: wire.description.slice(0, 400) };
}

function page(state: FarState, query: URLSearchParams, items: readonly unknown[]): Answer {
  const skip = Number(query.get("$skip") ?? 0);
  const top = Math.min(Number(query.get("$top") ?? 101), state.pageSizeMax);
  return enveloped(items.slice(skip, skip + top));
}

/** A comment that answers none begins a thread, which has its number. Comments are counted in their thread. */
function threadsOf(state: FarState, number: string | undefined) {
  const said = state.comments.filter((one) => one.pull === Number(number));
  return said
    .filter(({ replyTo }) => replyTo === undefined)
    .map((first) => threadToWire(first, [first, ...said.filter(({ replyTo }) => replyTo === first.id)]));
}

function threadToWire(first: FarComment, all: readonly FarComment[]) {
  const { path, line, isRemovedLine } = first;
  const at = { line, offset: 1 };
  return {
    id: first.id,
    publishedDate: first.at,
    lastUpdatedDate: all.at(-1)?.at,
    status: "active",
    isDeleted: false,
    threadContext:
      path === undefined
        ? null
        : { filePath: `/${path}`, ...(isRemovedLine ? { leftFileStart: at } : { rightFileStart: at }) },
    comments: all.map((one, index) => commentToWire(one, index)),
  };
}

function commentToWire({ author, body, at, isSystem }: FarComment, index: number) {
  const commentType = isSystem ? "system" : "text";
  return {
    id: index + 1,
    parentCommentId: index === 0 ? 0 : 1,
    author: identity(author),
    content: body,
    publishedDate: at,
    commentType,
  };
}

const group = (name: string) => ({ identityType: "Microsoft.TeamFoundation.Identity", identifier: `S-1-9-${name}` });
const keyOf = (name: string) => `Microsoft.TeamFoundation.Identity;S-1-9-${name}`;

function identityToWire(state: FarState, name: string) {
  const right = state.people[name];
  if (right === undefined) return null;
  const descriptor = { identityType: "Microsoft.IdentityModel.Claims.ClaimsIdentity", identifier: `${name}@acme.test` };
  return { id: name, descriptor, providerDisplayName: name, isActive: true, memberOf: [group(right)] };
}

/** The repository has no list of its own and inherits from its project. */
function accessLists(state: FarState, token: string | null) {
  if (token !== `repoV2/${ids.project}`) return [];
  const entry = (name: string, allow: number, deny = 0) => ({ descriptor: group(name), allow, deny });
  const aces = [entry("write", contribute + 16_384), entry("read", 2), entry("blocked", contribute, contribute)];
  const acesDictionary = Object.fromEntries(aces.map((ace) => [keyOf(ace.descriptor.identifier.slice(6)), ace]));
  return [{ token, inheritPermissions: true, acesDictionary, path: state.path }];
}

/** The description names only what succeeds, and lists without their envelope, which every sample answer has. */
function asInWords(): ApiDescription {
  const parts = [git, build, identities, security, hooks] as unknown as readonly ApiDescription[];
  // A log is sent as text, and so not judged.
  const error = { type: "object", required: ["message", "typeKey"], properties: { message: { type: "string" } } };
  const operations = parts
    .flatMap((part) => Object.entries(part.operations))
    .map(([name, { responses, ...operation }]) => {
      const ok = responses[200] as { type?: string };
      const answer = name.endsWith("{logId}")
        ? {}
        : ok.type === "array"
          ? { type: "object", required: ["count", "value"], properties: { count: { type: "integer" }, value: ok } }
          : ok;
      const created = name.startsWith("POST") ? { 201: answer } : {};
      return [
        // The same repository's BuildApi.ts leaves out the timeline's id, for the build's own.
        name.replace("/{organization}", "").replace("/timeline/{timelineId}", "/timeline"),
        { ...operation, responses: { ...created, 200: answer, 400: error, 409: error } },
      ];
    });
  // microsoft/azure-devops-node-api at deb8962, LocationsInterfaces.ts: ConnectionData. No published description has it.
  const person = { type: "object", properties: { id: { type: "string" }, providerDisplayName: { type: "string" } } };
  const connection = { type: "object", required: ["authenticatedUser"], properties: { authenticatedUser: person } };
  return {
    definitions: {},
    operations: {
      ...Object.fromEntries(operations),
      "GET /_apis/connectionData": { query: { "api-version": { type: "string" } }, responses: { 200: connection } },
    },
  };
}

type Handlers = Vendor["handlers"];

/** Every request names a version, and one that the resource has. */
function versioned(handlers: Handlers): Handlers {
  const asked = Object.entries(handlers).map(([name, handle]): [string, Handlers[string]] => [
    name,
    (state, request) => {
      const version = request.query.get("api-version");
      const wanted = name.endsWith("connectionData") ? "7.1-preview" : "7.1";
      if (version === wanted) return handle(state, request);
      return refused(400, `The requested version "${version}" is not supported.`, "VssVersionNotSpecifiedException");
    },
  ]);
  return Object.fromEntries(asked);
}

/** Azure DevOps Services: the part of it that Emend uses. */
export const azureDevopsVendor: Vendor = {
  name: "azure-devops",
  apiPath: "/acme",
  path: "acme/site/_git/docs",
  isApi: (pathname) => !pathname.includes("/_git/"),
  apiPlaceOf: (path) => path.replace(/^acme\//, "").replace("/_git/", "/_apis/git/repositories/"),
  description: asInWords(),
  refusal,
  repositoryOperation: `GET ${repository}`,
  ratePrefix: "x-ratelimit",
  tokenOf(authorization) {
    const [scheme, value = ""] = authorization.split(" ");
    if (scheme === "Bearer") return value;
    if (scheme !== "Basic") return null;
    const [user, password = ""] = Buffer.from(value, "base64").toString("utf8").split(":");
    return user === "" ? password : null;
  },
  // microsoft/azure-devops-auth-samples#52: what reads gets its sign-in page with 203.
  unknownToken: {
    status: 203,
    body: undefined,
    text: "<!DOCTYPE html><html><title>Azure DevOps Services | Sign In</title></html>",
    headers: { "content-type": "text/html; charset=utf-8" },
  },
  handlers: versioned({
    ...azureDevopsCi,
    [`GET ${repository}`]: (state) => ({
      status: 200,
      body: {
        id: ids.repository,
        name: state.path.split("/").at(-1),
        project: { id: ids.project, name: "site", state: "wellFormed" },
        defaultBranch: "refs/heads/main",
        isDisabled: state.archived,
        remoteUrl: `${state.url}/${state.path}`,
        webUrl: `${state.url}/${state.path}`,
      },
    }),
    [`GET ${pulls}`]: (state, { query }) => {
      const branch = query.get("searchCriteria.sourceRefName");
      const status = query.get("searchCriteria.status") ?? "active";
      const found = newestFirst(state.pulls)
        .filter((one) => branch === null || `refs/heads/${one.head}` === branch)
        .filter((one) => status === "all" || words[one.state] === status);
      return page(
        state,
        query,
        found.map((one) => asListed(toWire(state, one))),
      );
    },
    [`POST ${pulls}`]: async (state, { body, work }) => {
      if (state.archived)
        return refused(403, "VS403001: The repository is disabled.", "GitRepositoryDisabledException");
      const long = tooLong(body.description);
      if (long) return long;
      const { title, description: text = "", isDraft = false, sourceRefName, targetRefName } = body;
      const [head, base] = [nameIn(sourceRefName), nameIn(targetRefName)];
      const wanted = { head, base, title, body: text, draft: isDraft, labels: [], reviewers: [], options: {} };
      const opened = await createPull(state, wanted, work);
      if (opened.kind === "opened") return { status: 201, body: toWire(state, opened.pull) };
      return opened.kind === "exists"
        ? refused(
            409,
            "TF401179: An active pull request for the source and target branch already exists.",
            "GitPullRequestExistsException",
          )
        : refused(
            400,
            "TF401398: The pull request cannot be activated because the source and/or the target branch no longer exists, or the requested refs are outside the allowable hierarchy.",
            "GitPullRequestCannotBeActivated",
          );
    },
    [`GET ${pulls}/{pullRequestId}`]: (state, { parameters }) => {
      const one = pullOf(state, parameters.pullRequestId);
      return one ? { status: 200, body: toWire(state, one) } : noPull;
    },
    [`PATCH ${pulls}/{pullRequestId}`]: (state, { parameters, body }) => {
      const one = pullOf(state, parameters.pullRequestId);
      if (!one) return noPull;
      if (one.state !== "open") {
        return refused(
          403,
          "TF401181: The pull request cannot be edited due to its state.",
          "GitPullRequestNotEditableException",
        );
      }
      const long = tooLong(body.description);
      if (long) return long;
      if (body.status === "completed") return complete(state, parameters.pullRequestId, body);
      const { title = one.title, description = one.body, status } = body;
      Object.assign(one, { title, body: description, ...(status === "abandoned" && { state: "closed" }) });
      return { status: 200, body: toWire(state, one) };
    },
    [`GET ${repository}/diffs/commits`]: (state, { query }) => {
      const [base, target] = [query.get("baseVersion") ?? "", commitOf(state, query.get("targetVersion") ?? "")];
      if (!target || !tipOf(state, base)) return noCommit;
      const commonCommit = mergeBaseOf(state, base, target);
      return { status: 200, body: { commonCommit, baseCommit: tipOf(state, base), targetCommit: target, changes: [] } };
    },
    [`POST ${repository}/commits/{commitId}/statuses`]: (state, { parameters: { commitId = "" }, body }) => {
      if (!commitOf(state, commitId)) return noCommit;
      const { context, state: word, description, targetUrl } = body;
      const set = { name: context.name, state: word, words: description, url: targetUrl };
      state.statuses.set(`${commitId} ${context.genre}/${context.name}`, set);
      return { status: 201, body: { id: 1, ...body } };
    },
    [`GET ${pull}/iterations`]: (state, { parameters }) => {
      const one = pullOf(state, parameters.pullRequestId);
      if (!one) return noPull;
      const tip = tipOf(state, one.head);
      return enveloped([
        { id: 1, reason: "create", sourceRefCommit: { commitId: "0".repeat(40) } },
        ...(tip ? [{ id: 2, reason: "push", sourceRefCommit: { commitId: tip } }] : []),
      ]);
    },
    [`POST ${pull}/statuses`]: (state, { parameters, body }) => {
      const one = pullOf(state, parameters.pullRequestId);
      if (!one) return noPull;
      one.options.statuses = {
        ...(one.options.statuses as object),
        [`${body.iterationId} ${body.context.name}`]: body.state,
      };
      return { status: 200, body: { id: 2, ...body } };
    },
    [`GET ${pull}/threads`]: (state, { parameters }) => enveloped(threadsOf(state, parameters.pullRequestId)),
    [`POST ${pull}/threads`]: (state, { parameters, body }) => {
      const said = addRemark(state, parameters.pullRequestId, body.comments[0].content);
      return { status: 200, body: threadToWire(said, [said]) };
    },
    [`POST ${pull}/threads/{threadId}/comments`]: (state, { parameters, body }) => {
      const said = addReply(state, parameters.pullRequestId, Number(parameters.threadId), body.content);
      if (!said) return refused(404, "The thread does not exist.", "CommentThreadNotFoundException");
      return { status: 200, body: commentToWire(said, body.parentCommentId) };
    },
    [`GET ${pull}/labels`]: (state, { parameters }) =>
      enveloped((pullOf(state, parameters.pullRequestId)?.labels ?? []).map((name) => ({ id: name, name }))),
    [`POST ${pull}/labels`]: (state, { parameters, body }) => {
      pullOf(state, parameters.pullRequestId)?.labels.push(body.name);
      return { status: 200, body: { id: body.name, name: body.name, active: true } };
    },
    [`GET ${pull}/reviewers`]: (state, { parameters }) => {
      const asked = pullOf(state, parameters.pullRequestId)?.reviewers ?? [];
      const voted = state.reviews.filter(
        (review) => review.pull === Number(parameters.pullRequestId) && review.state === "approved",
      );
      const votes = new Map([
        ...asked.map((name) => [name, 0] as const),
        ...voted.map(({ author }) => [author, 10] as const),
      ]);
      return enveloped([...votes].map(([name, vote]) => ({ ...identity(name), vote })));
    },
    [`PUT ${pull}/reviewers/{reviewerId}`]: (state, { parameters: { pullRequestId, reviewerId = "" } }) => {
      pullOf(state, pullRequestId)?.reviewers.push(reviewerId);
      return { status: 200, body: { ...identity(reviewerId), vote: 0 } };
    },
    "GET /{project}/_apis/git/policy/configurations": (state, { query }) => {
      const branch = nameIn(query.get("refName") ?? "");
      const isClosed = state.closedBranches !== null && branch.startsWith(state.closedBranches.replace(/\*+$/, ""));
      const policy = (id: number, displayName: string, isBlocking: boolean) => ({
        id,
        type: { id: `${id}`, displayName },
        isEnabled: true,
        isBlocking,
        isDeleted: false,
      });
      return enveloped([
        policy(1, "Comment requirements", false),
        ...(isClosed ? [policy(2, "Minimum number of reviewers", true)] : []),
      ]);
    },
    "GET /_apis/identities": (state, { query }) => {
      const wanted = query.get("identityIds");
      if (wanted !== null) return enveloped([identityToWire(state, wanted)].filter((one) => one !== null));
      const found = identityToWire(state, (query.get("filterValue") ?? "").replace(/@acme\.test$/, ""));
      return enveloped(found ? [found] : []);
    },
    "GET /_apis/accesscontrollists/{securityNamespaceId}": (state, { parameters, query }) =>
      parameters.securityNamespaceId !== gitNamespace ? denied : enveloped(accessLists(state, query.get("token"))),
    "GET /_apis/permissions/{securityNamespaceId}/{permissions}": (state) =>
      state.mayPush === null ? denied : enveloped([state.mayPush]),
    "GET /_apis/hooks/subscriptions": (state) =>
      state.hooks === null
        ? denied
        : enveloped(
            state.hooks.map(({ url, isActive, lastStatus }, id) => ({
              id: `${id}`,
              eventType: "git.pullrequest.updated",
              publisherInputs: { projectId: ids.project, repository: ids.repository },
              consumerInputs: { url },
              status: isActive ? (lastStatus >= 400 ? "onProbation" : "enabled") : "disabledBySystem",
            })),
          ),
    "GET /_apis/connectionData": () => ({
      status: 200,
      body: { authenticatedUser: { id: "emend-bot", providerDisplayName: "emend-bot" } },
    }),
  }),
};

const strategies: Readonly<Record<string, string>> = { noFastForward: "merge", squash: "squash", rebase: "rebase" };

/** MethodsAndPractices/vsteam#378 quotes the refusal without a commit. */
function complete(
  state: FarState,
  number: string | undefined,
  body: { lastMergeSourceCommit?: { commitId: string }; completionOptions?: { mergeStrategy?: string } },
): Answer {
  const head = body.lastMergeSourceCommit?.commitId;
  if (!head) {
    const why =
      "Invalid argument value.\r\nParameter name: You must specify a valid LastMergeSourceCommit to perform this operation.";
    return refused(400, why, "InvalidArgumentValueException");
  }
  const method = strategies[body.completionOptions?.mergeStrategy ?? "noFastForward"] ?? "rebase";
  const merged = mergePull(state, number, { head, method });
  if (merged.status === 200) return { status: 200, body: toWire(state, merged.pull) };
  if (merged.status === 409) {
    return refused(
      409,
      "TF401192: The source branch has been modified since the last merge attempt.",
      "GitPullRequestStaleException",
    );
  }
  return merged.status === 404 ? noPull : refused(403, merged.words, "GitPullRequestUpdateRejectedByPolicyException");
}

function tooLong(description: string | undefined): Answer | null {
  if ((description ?? "").length <= 4000) return null;
  const why =
    "Invalid argument value.\r\nParameter name: A description for a pull request must not be longer than 4000 characters.";
  return refused(400, why, "InvalidArgumentValueException");
}
