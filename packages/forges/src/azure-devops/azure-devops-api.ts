import { type Static, type TSchema, Type } from "typebox";
import { type ApiClient, type ApiRequest, basicAuthorization } from "../api-client.ts";
import type { RawAnswer } from "../api-refusal.ts";
import type { ForgeSettings } from "../forge.ts";

/** What all functions for a repository on Azure DevOps share. */
export interface AzureDevopsRepository {
  api: ApiClient;
  /** Where identities are kept. */
  identities: ApiClient;
  settings: ForgeSettings;
  /** The repository's page. */
  url: string;
  /** `/<project>/_apis/git/repositories/<repository>`. */
  path: string;
  /** The path of the organization or collection, and the project's name, as paths have them. */
  owner: string;
  project: string;
}

/** Every request names the version that it is written for. Azure DevOps Server has it from 2022.1 on. */
export const apiVersion = "7.1";

/** A personal access token is a password without a user; Microsoft Entra's tokens are JSON Web Tokens. */
export function authorizationOf(credential: string): string {
  const isEntra = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(credential);
  return isEntra ? `Bearer ${credential}` : basicAuthorization("", credential);
}

/** A token that it does not accept is not answered with 401, but with the sign-in page, or a redirect to it. */
export function isSignIn({ status, headers }: RawAnswer): boolean {
  if (status === 203) return true;
  if (status < 300 || status >= 400) return false;
  const target = URL.parse(headers.get("location") ?? "", "https://relative.invalid");
  return /\/_signin\b|\/oauth2\//i.test(target?.pathname ?? "");
}

/** A person or a group. Names are not unique, so people are identified by id. */
export const Identity = Type.Object({
  id: Type.String({ minLength: 1 }),
  displayName: Type.Optional(Type.String()),
});

export const CommitId = Type.String({ pattern: "^[0-9a-f]{40,64}$" });

/** Lists come in an envelope. */
export function listed<T extends TSchema>(item: T) {
  return Type.Object({ value: Type.Array(item) });
}

const pageSize = 100;

/** Reads a paginated list until its end, until there are enough items, or until `isLast` returns true. */
export async function listValues<T extends TSchema>(
  { api }: Pick<AzureDevopsRepository, "api">,
  request: Pick<ApiRequest<T>, "path" | "query" | "what"> & { item: T; isLast?(item: Static<T>): boolean },
  pagesMax: number,
  signal: AbortSignal,
): Promise<readonly Static<T>[]> {
  const { item, isLast, query, ...rest } = request;
  const items: Static<T>[] = [];
  for (let page = 0; page < pagesMax; page += 1) {
    const paging = { $top: pageSize, $skip: items.length };
    const answer = await api.call(
      { ...rest, method: "GET", query: { ...query, ...paging }, answer: listed(item) },
      signal,
    );
    const { value } = answer as { value: Static<T>[] };
    for (const one of value) items.push(one);
    const last = value.at(-1);
    if (last === undefined || value.length < pageSize || isLast?.(last)) break;
  }
  return items;
}

const branchPrefix = "refs/heads/";

export function refOf(branch: string): string {
  return `${branchPrefix}${branch}`;
}

export function branchOf(ref: string): string {
  return ref.startsWith(branchPrefix) ? ref.slice(branchPrefix.length) : ref;
}

/** Errors name their kind in `typeKey`, and most have a number in their message. */
export function hasKind(body: unknown, kind: string, number: string): boolean {
  const { typeKey, message } = (body ?? {}) as { typeKey?: unknown; message?: unknown };
  return typeKey === kind || (typeof message === "string" && message.includes(number));
}
