import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import type { ApiClient, ApiRequest } from "./api-client.ts";

/** Every item of a list that comes in pages, until a page is not full or there are enough. */
export async function listPages<T extends TSchema>(
  api: ApiClient,
  request: Omit<ApiRequest<T>, "method" | "answer"> & { item: T; sizeName: "per_page" | "limit"; pageSize: number },
  pagesMax: number,
  signal: AbortSignal,
): Promise<readonly Static<T>[]> {
  const { item, sizeName, pageSize, query, ...rest } = request;
  const items: Static<T>[] = [];
  for (let page = 1; page <= pagesMax; page += 1) {
    const listed = (await api.call(
      { ...rest, method: "GET", query: { ...query, [sizeName]: pageSize, page }, answer: Type.Array(item) },
      signal,
    )) as Static<T>[];
    for (const one of listed) items.push(one);
    if (listed.length < pageSize) break;
  }
  return items;
}
