import { Type } from "typebox";
import type { ForgeInspection } from "../forge.ts";
import { matchesBranch } from "../matches-branch.ts";
import { mayLook } from "../may-look.ts";
import { accessLevelOf } from "./describe-repository.ts";
import type { GitlabRepository } from "./gitlab-forge.ts";

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

export async function inspect(
  repository: GitlabRepository,
  branch: string,
  signal: AbortSignal,
): Promise<ForgeInspection> {
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

/** 0 is nobody; a person or group of its own has no level that could be compared, and is given the benefit. */
function mayPush({ access_level: wanted }: { access_level: number | null }, level: number | null): boolean {
  if (wanted === null || level === null) return true;
  return wanted > 0 && level >= wanted;
}

function wordsFor(name: string, allowed: readonly { access_level_description?: string | null }[]): string {
  const who = allowed.map((access) => access.access_level_description ?? "").filter((words) => words !== "");
  return `${name} is protected, and only these may push: ${who.join(", ") || "no one"}`;
}
