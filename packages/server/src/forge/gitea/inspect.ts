import { Type } from "typebox";
import type { ForgeInspection } from "../forge.ts";
import { matchesBranch } from "../matches-branch.ts";
import { mayLook } from "../may-look.ts";
import { teamsThatOnlyRead } from "./conversation.ts";
import type { GiteaRepository } from "./gitea-forge.ts";

const Protection = Type.Object({
  rule_name: Type.Optional(Type.String()),
  branch_name: Type.Optional(Type.String()),
  enable_push: Type.Boolean(),
  enable_push_whitelist: Type.Boolean(),
  push_whitelist_usernames: Type.Union([Type.Array(Type.String()), Type.Null()]),
  require_signed_commits: Type.Boolean(),
});
const Hook = Type.Object({ config: Type.Object({ url: Type.Optional(Type.String()) }), active: Type.Boolean() });

export async function inspect(
  { api, path, server: askServer }: GiteaRepository,
  branch: string,
  signal: AbortSignal,
): Promise<ForgeInspection> {
  const server = await askServer(signal);
  const user = await mayLook(api, { path: "/user", answer: Type.Object({ login: Type.String() }) }, signal);
  const rules = await mayLook(api, { path: `${path}/branch_protections`, answer: Type.Array(Protection) }, signal);
  const hooks = await mayLook(api, { path: `${path}/hooks`, query: { limit: 50 }, answer: Type.Array(Hook) }, signal);
  const login = user?.value.login ?? null;
  const met = (rules?.value ?? []).flatMap((rule) => {
    const name = rule.rule_name || rule.branch_name || "";
    if (!matchesBranch(name, branch, { starCrossesSlash: false })) return [];
    const allowed = rule.push_whitelist_usernames ?? [];
    const isListed = login === null || allowed.includes(login);
    if (!rule.enable_push) return [`${name} is protected against every push`];
    if (rule.enable_push_whitelist && !isListed) return [`${name} is protected, and ${login} is not on its list`];
    return rule.require_signed_commits ? [`${name} takes signed commits alone`] : [];
  });
  return {
    server: server && `${server.name} ${server.version}`,
    account: login,
    expiresAt: null,
    lacks: server?.isTooOld ? [`${server.name} ${server.version} is too old: update to 1.20 or newer`] : [],
    unknownAuthors: await unknownAuthors({ api, path }, signal),
    branchRules: rules && met,
    webhooks:
      hooks?.value.map(({ config, active }) => ({ url: config.url ?? "", isActive: active, failure: null })) ?? null,
  };
}

async function unknownAuthors(repository: Pick<GiteaRepository, "api" | "path">, signal: AbortSignal) {
  const { api, path } = repository;
  const answer = Type.Object({ permissions: Type.Optional(Type.Object({ admin: Type.Boolean() })) });
  const own = await mayLook(api, { path, answer }, signal);
  if (own?.value.permissions?.admin) return null;
  const teams = await teamsThatOnlyRead(repository, signal);
  if (teams.length === 0) return null;
  return `comments by members of teams are not acted on, because ${teams.join(", ")} may only read and Gitea does not tell their rights; make the token's owner an administrator of the repository`;
}
