import { Type } from "typebox";
import type { ForgeInspection } from "../forge.ts";
import { mayLook } from "../may-look.ts";
import type { GithubRepository } from "./github-forge.ts";

const Hook = Type.Object({
  active: Type.Boolean(),
  config: Type.Object({ url: Type.Optional(Type.String()) }),
  last_response: Type.Optional(Type.Object({ code: Type.Union([Type.Integer(), Type.Null()]) })),
});
const Rule = Type.Object({ type: Type.String() });

/** Of the rules that GitHub has, those that a push of a new branch can meet. */
const refusing: Readonly<Record<string, string>> = {
  creation: "it may not be created",
  update: "it may not be pushed to",
  pull_request: "it changes by pull requests alone",
  required_status_checks: "its commits must have passed checks before they are pushed",
  required_signatures: "its commits must be signed: use an App, with commits that GitHub makes",
  branch_name_pattern: "its name must follow a pattern",
  commit_message_pattern: "its commits' messages must follow a pattern",
  commit_author_email_pattern: "its commits' authors must follow a pattern",
  committer_email_pattern: "its commits' committers must follow a pattern",
  file_path_restriction: "some of its paths may not change",
};

export async function inspect(
  { api, path, signsCommits }: GithubRepository,
  branch: string,
  signal: AbortSignal,
): Promise<ForgeInspection> {
  const user = await mayLook(api, { path: "/user", answer: Type.Object({ login: Type.String() }) }, signal);
  const rulesPath = `${path}/rules/branches/${branch.split("/").map(encodeURIComponent).join("/")}`;
  const rules = await mayLook(api, { path: rulesPath, query: { per_page: 100 }, answer: Type.Array(Rule) }, signal);
  const hooks = await mayLook(
    api,
    { path: `${path}/hooks`, query: { per_page: 100 }, answer: Type.Array(Hook) },
    signal,
  );
  const types = (rules?.value ?? [])
    .map(({ type }) => type)
    .filter((type) => !(signsCommits && type === "required_signatures"));
  return {
    server: null,
    account: user?.value.login ?? null,
    expiresAt: expiryIn(user?.headers),
    lacks: lackIn(user?.headers),
    branchRules: rules && [...new Set(types)].map((type) => refusing[type]).filter((words) => words !== undefined),
    webhooks:
      hooks?.value.map(({ active, config, last_response: last }) => ({
        url: config.url ?? "",
        isActive: active,
        failure: last?.code && last.code >= 400 ? `it was answered ${last.code}` : null,
      })) ?? null,
  };
}

/** Fine-grained tokens say when they end. */
function expiryIn(headers?: Headers): Date | null {
  const text = headers?.get("github-authentication-token-expiration");
  // As `2026-12-31 23:59:59 UTC`, or with an offset as `2026-12-31 23:59:59 -0800`.
  const written = text
    ?.replace(/ UTC$/, "Z")
    .replace(/ ([+-]\d\d):?(\d\d)$/, "$1:$2")
    .replace(" ", "T");
  const date = written ? new Date(written) : null;
  return date && Number.isFinite(date.getTime()) ? date : null;
}

/** Classic tokens name their scopes; others send no such header. */
function lackIn(headers?: Headers): readonly string[] {
  const scopes = headers?.get("x-oauth-scopes");
  if (!scopes) return [];
  const given = scopes.split(",").map((scope) => scope.trim());
  return given.includes("repo") || given.includes("public_repo") ? [] : ["the scope repo"];
}
