import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import type { ApiClient, ApiRequest } from "./api-client.ts";

/**
 * Reads a paginated list until its end, until there are enough items, or until `isLast` returns true. A server may send
 * smaller pages than requested, so its headers tell whether there are more.
 */
export async function listPages<T extends TSchema>(
  api: ApiClient,
  request: Omit<ApiRequest<T>, "method" | "answer"> & {
    item: T;
    sizeName: "per_page" | "limit" | "pagelen";
    pageSize: number;
    isLast?(item: Static<T>): boolean;
  },
  pagesMax: number,
  signal: AbortSignal,
): Promise<readonly Static<T>[]> {
  const { item, sizeName, pageSize, query, isLast, ...rest } = request;
  const items: Static<T>[] = [];
  for (let page = 1; page <= pagesMax; page += 1) {
    const pageQuery = { ...query, [sizeName]: pageSize, page };
    const outcome = await api.ask({ ...rest, method: "GET", query: pageQuery, answer: Type.Array(item) }, [], signal);
    if (outcome.kind !== "ok") break;
    const listed = outcome.value as Static<T>[];
    for (const one of listed) items.push(one);
    const last = listed.at(-1);
    if (last === undefined || isLast?.(last) || !hasMore(outcome.headers, items.length, listed.length, pageSize)) break;
  }
  return items;
}

function hasMore(headers: Headers, count: number, listed: number, pageSize: number): boolean {
  const total = headers.get("x-total-count") ?? headers.get("x-total");
  if (total !== null) return count < Number(total);
  const link = headers.get("link");
  if (link !== null) return /rel="?next"?/.test(link);
  return listed >= pageSize;
}
