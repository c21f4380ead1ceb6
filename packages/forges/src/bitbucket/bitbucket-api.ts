import { type Static, type TSchema, Type } from "typebox";
import { type ApiClient, type ApiRequest, basicAuthorization } from "../api-client.ts";
import { ForgeFault } from "../faults.ts";
import type { ForgeSettings } from "../forge.ts";

/** What all functions for a Bitbucket Cloud repository share. */
export interface BitbucketRepository {
  api: ApiClient;
  /** Without a trailing slash. */
  apiUrl: string;
  settings: ForgeSettings;
  workspace: string;
  slug: string;
  /** `/repositories/<workspace>/<slug>`. */
  path: string;
}

/** A user account; an access token has one too. Nicknames are not unique, so people are identified by UUID. */
export const Account = Type.Object({
  uuid: Type.Optional(Type.String()),
  display_name: Type.Optional(Type.String()),
});

/**
 * An API token belongs to a person and is used with their email address. An access token belongs to a repository or
 * workspace.
 */
const apiToken = /^([^\s:@]+@[^\s:@]+):(.+)$/;

/** The Authorization headers for the API and for git. Git takes a fixed user name instead of the email address. */
export function authorizationsOf(credential: string): { api: string; git: string } {
  const [, email, token] = apiToken.exec(credential) ?? [];
  if (email === undefined || token === undefined) {
    return { api: `Bearer ${credential}`, git: basicAuthorization("x-token-auth", credential) };
  }
  return { api: basicAuthorization(email, token), git: basicAuthorization("x-bitbucket-api-token-auth", token) };
}

/*
 * Bitbucket shows HTML as text, comments included. Hidden markers go into an unused link definition, which CommonMark
 * does not show. Text that looks like one of Emend's markers is changed, so that it cannot pass for one.
 */
const hidden = /^<!-- (emend:[\w=-]+) -->$/gm;
const definition = /^\[\/\/\]: # \((emend:[\w=-]+)\)[ \t\r]*$/gm;

export function withDefinitions(text: string): string {
  return text.replaceAll(/\[\/\/\]: # \(emend:/g, "[//]: # ( emend:").replaceAll(hidden, "[//]: # ($1)");
}

export function withComments(text: string): string {
  return text.replaceAll(definition, "<!-- $1 -->");
}

/**
 * Reads a paginated list until its end, until there are enough items, or until `isLast` returns true. Each page names
 * the next one. Only URLs on the same server are followed, because the token is sent along.
 */
export async function listValues<T extends TSchema>(
  { api, apiUrl }: Pick<BitbucketRepository, "api" | "apiUrl">,
  request: Pick<ApiRequest<T>, "path" | "query" | "what"> & { item: T; isLast?(item: Static<T>): boolean },
  pagesMax: number,
  signal: AbortSignal,
): Promise<readonly Static<T>[]> {
  const { item, isLast, query, path: firstPath, what } = request;
  const answer = Type.Object({ values: Type.Array(item), next: Type.Optional(Type.String()) });
  const items: Static<T>[] = [];
  let at: { path: string; query?: ApiRequest<T>["query"] } = { path: firstPath, query: { ...query, pagelen: 50 } };
  for (let page = 1; page <= pagesMax; page += 1) {
    const { values, next } = (await api.call({ ...at, method: "GET", answer, what }, signal)) as {
      values: Static<T>[];
      next?: string;
    };
    for (const one of values) items.push(one);
    const last = values.at(-1);
    if (next === undefined || last === undefined || isLast?.(last)) break;
    if (!next.startsWith(`${apiUrl}/`)) {
      throw new ForgeFault("forge_rejected", {
        publicMessage: "Bitbucket sent a link to the next page on another server.",
      });
    }
    at = { path: next.slice(apiUrl.length) };
  }
  return items;
}
