import { type Static, Type } from "typebox";
import type { WriteAccess } from "../forge.ts";
import { type AzureDevopsRepository, listed } from "./azure-devops-api.ts";

/** The namespace "Git Repositories", and its permissions (Microsoft's "Security namespace and permission reference"). */
const gitNamespace = "2e9eb7ed-3c0a-47d4-87c1-0f9bdf8b60c5";
export const gitPermissions = { contribute: 4, createBranch: 16, contributeToPullRequests: 16_384 } as const;

export const Ids = Type.Object({ id: Type.String(), project: Type.Object({ id: Type.String() }) });
const Descriptor = Type.Object({ identityType: Type.String(), identifier: Type.String() });
const Member = Type.Object({
  id: Type.String(),
  descriptor: Type.Union([Descriptor, Type.String()]),
  memberOf: Type.Optional(Type.Union([Type.Array(Type.Union([Descriptor, Type.String()])), Type.Null()])),
});
const AccessList = Type.Object({
  token: Type.String(),
  inheritPermissions: Type.Boolean(),
  acesDictionary: Type.Record(Type.String(), Type.Object({ allow: Type.Integer(), deny: Type.Integer() })),
});

/** The security token of the repository, then of what it inherits from. */
async function readSecurityTokens({ api, path }: AzureDevopsRepository, signal: AbortSignal) {
  const request = { path, answer: Ids, what: "read the repository" };
  const { id, project } = await api.call({ ...request, method: "GET" }, signal);
  return [`repoV2/${project.id}/${id}`, `repoV2/${project.id}`, "repoV2"] as const;
}

/** Whether the credential itself has permissions on the repository. Null: it may not ask. */
export async function readOwnPermission(
  { api }: AzureDevopsRepository,
  token: string,
  permissions: number,
  signal: AbortSignal,
): Promise<boolean | null> {
  const request = {
    path: `/_apis/permissions/${gitNamespace}/${permissions}`,
    query: { tokens: token, alwaysAllowAdministrators: "true" },
    answer: listed(Type.Boolean()),
    what: "read its permissions",
  };
  const outcome = await api.ask({ ...request, method: "GET" }, [401, 403, 404], signal);
  return outcome.kind === "ok" ? (outcome.value.value[0] ?? null) : null;
}

/** The access control lists of the repository, nearest first. Null: the credential may not read them. */
export async function readAccessLists(
  repository: AzureDevopsRepository,
  signal: AbortSignal,
): Promise<readonly Static<typeof AccessList>[] | null> {
  const lists: Static<typeof AccessList>[] = [];
  for (const token of await readSecurityTokens(repository, signal)) {
    const request = {
      path: `/_apis/accesscontrollists/${gitNamespace}`,
      query: { token },
      answer: listed(AccessList),
      what: "read permissions",
    };
    const outcome = await repository.api.ask({ ...request, method: "GET" }, [401, 403, 404], signal);
    if (outcome.kind !== "ok") return null;
    // Without a list of its own, a repository inherits.
    const own = outcome.value.value.find((one) => one.token.toLowerCase() === token.toLowerCase());
    if (!own) continue;
    lists.push(own);
    if (!own.inheritPermissions) break;
  }
  return lists;
}

/**
 * Whether a person may push. The nearest list that names the person or a group of theirs decides; in one list, a denial
 * beats every permission (Microsoft's "About permissions and security groups", Permission inheritance).
 */
export async function readWriteAccess(
  repository: AzureDevopsRepository,
  author: string,
  signal: AbortSignal,
): Promise<WriteAccess> {
  if (author === "") return "no";
  const query = { identityIds: author, queryMembership: "expanded" };
  const request = { path: "/_apis/identities", query, answer: listed(Type.Union([Member, Type.Null()])) };
  const asked = { ...request, method: "GET", what: "look people up" } as const;
  const outcome = await repository.identities.ask(asked, [401, 403, 404], signal);
  if (outcome.kind !== "ok") return outcome.status === 404 ? "no" : "unknown";
  const person = outcome.value.value.find((one) => one?.id.toLowerCase() === author.toLowerCase());
  if (!person) return "no";
  const names = new Set([person.descriptor, ...(person.memberOf ?? [])].map(nameOf));
  const lists = await readAccessLists(repository, signal);
  if (lists === null) return "unknown";
  for (const { acesDictionary } of lists) {
    const entries = Object.entries(acesDictionary).flatMap(([name, one]) =>
      names.has(name.toLowerCase()) ? [one] : [],
    );
    if (entries.some(({ deny }) => (deny & gitPermissions.contribute) !== 0)) return "no";
    if (entries.some(({ allow }) => (allow & gitPermissions.contribute) !== 0)) return "yes";
  }
  return "no";
}

/** Lists name people and groups as `<type>;<identifier>`. */
function nameOf(descriptor: Static<typeof Descriptor> | string): string {
  const name = typeof descriptor === "string" ? descriptor : `${descriptor.identityType};${descriptor.identifier}`;
  return name.toLowerCase();
}
