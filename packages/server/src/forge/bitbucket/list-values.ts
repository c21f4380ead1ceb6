import { type Static, type TSchema, Type } from "typebox";
import { AppError } from "../../errors.ts";
import type { ApiRequest } from "../api-client.ts";
import type { BitbucketRepository } from "./bitbucket-api.ts";

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
      throw new AppError("forge_rejected", {
        publicMessage: "Bitbucket sent a link to the next page on another server.",
      });
    }
    at = { path: next.slice(apiUrl.length) };
  }
  return items;
}
