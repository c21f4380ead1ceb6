import { type Static, Type } from "typebox";
import { AppError } from "../../errors.ts";
import type { ForgeInspection, RepositoryDescription } from "../forge.ts";
import { matchesBranch } from "../matches-branch.ts";
import { mayLook } from "../may-look.ts";
import { Account, type BitbucketRepository } from "./bitbucket-api.ts";

const Repository = Type.Object({
  full_name: Type.String(),
  /** Null: nothing was pushed yet. */
  mainbranch: Type.Optional(Type.Union([Type.Object({ name: Type.String() }), Type.Null()])),
});
const Restriction = Type.Object({
  kind: Type.String(),
  branch_match_kind: Type.Optional(Type.String()),
  pattern: Type.String(),
  users: Type.Optional(Type.Array(Account)),
  groups: Type.Optional(Type.Array(Type.Object({ name: Type.Optional(Type.String()) }))),
});
const Hook = Type.Object({ url: Type.String(), active: Type.Optional(Type.Boolean()) });

/** Each is good for what the first names: of access tokens, and of somebody's API token. */
const pushScopes = ["repository:write", "pullrequest:write", "write:repository:bitbucket"];
const pullScopes = ["pullrequest:write", "write:pullrequest:bitbucket"];

/** Archives do not exist on Bitbucket. What a token may do is told in a header. */
export async function describeRepository(
  repository: BitbucketRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const { found, scopes } = await readRepository(repository, signal);
  return {
    path: found.full_name,
    defaultBranch: found.mainbranch?.name ?? null,
    archived: false,
    mayPush: hasOne(scopes, pushScopes),
    mayOpenPullRequests: hasOne(scopes, pullScopes),
  };
}

async function readRepository({ api, path }: BitbucketRepository, signal: AbortSignal) {
  const request = { path, answer: Repository, what: "read the repository" };
  const outcome = await api.ask({ ...request, method: "GET" }, [], signal);
  if (outcome.kind !== "ok") throw new AppError("internal", { publicMessage: "A refusal was not thrown." });
  const told = outcome.headers.get("x-oauth-scopes")?.trim();
  return { found: outcome.value, scopes: told ? told.split(/[\s,]+/) : null };
}

function hasOne(scopes: readonly string[] | null, wanted: readonly string[]): boolean | null {
  return scopes?.some((scope) => wanted.includes(scope)) ?? null;
}

export async function inspect(
  repository: BitbucketRepository,
  branch: string,
  signal: AbortSignal,
): Promise<ForgeInspection> {
  const { api, path, workspace, slug } = repository;
  const { scopes } = await readRepository(repository, signal);
  const user = await mayLook(api, { path: "/user", answer: Account }, signal);
  const query = { kind: "push", pagelen: 50 };
  const page = <T extends typeof Restriction | typeof Hook>(item: T) => Type.Object({ values: Type.Array(item) });
  const rules = await mayLook(api, { path: `${path}/branch-restrictions`, query, answer: page(Restriction) }, signal);
  const hooks = await mayLook(api, { path: `${path}/hooks`, query: { pagelen: 50 }, answer: page(Hook) }, signal);
  const closed = (rules?.value.values ?? []).filter(
    (rule) => rule.kind === "push" && isMet(rule, branch) && !isLetIn(rule, user?.value.uuid),
  );
  const rights = await mayLook(
    api,
    { path: `/workspaces/${workspace}/permissions/repositories/${slug}`, answer: Type.Object({}) },
    signal,
  );
  return {
    server: null,
    account: user?.value.display_name ?? null,
    expiresAt: null,
    lacks: [
      ...(hasOne(scopes, pushScopes) === false ? ["the scope repository:write"] : []),
      ...(hasOne(scopes, pullScopes) === false ? ["the scope pullrequest:write"] : []),
    ],
    unknownAuthors:
      rights === null
        ? "comments are not acted on, because Bitbucket tells people's rights to administrators of the repository alone and to no access token; give the project an administrator's API token, as email:token"
        : null,
    branchRules: rules && closed.map(wordsFor),
    webhooks: hooks?.value.values.map(({ url, active }) => ({ url, isActive: active ?? true, failure: null })) ?? null,
  };
}

/** Types of branches follow a model that Emend's have no place in. */
function isMet({ branch_match_kind: kind, pattern }: Static<typeof Restriction>, branch: string): boolean {
  return kind !== "branching_model" && matchesBranch(pattern, branch, { starCrossesSlash: true });
}

/** Who is in a group is not told: it has the benefit. */
function isLetIn({ users = [], groups = [] }: Static<typeof Restriction>, own: string | undefined): boolean {
  return groups.length > 0 || (own !== undefined && users.some(({ uuid }) => uuid === own));
}

function wordsFor({ pattern, users = [] }: Static<typeof Restriction>): string {
  const who = users.map(({ display_name: name }) => name ?? "somebody").join(", ");
  return `${pattern} is restricted, and only these may push: ${who || "no one"}`;
}
