import type { Fetch } from "@emend/base/network.ts";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { createApiClient, listPages } from "./api-client.ts";

const { signal } = new AbortController();

/** A list of numbers, ten on a page, the oldest first. */
function listOf(count: number, headersOf: (pages: number) => Record<string, string>) {
  const asked: number[] = [];
  const fetch: Fetch = async (url) => {
    const page = Number(new URL(url).searchParams.get("page"));
    asked.push(page);
    const items = Array.from({ length: count }, (_, index) => index + 1).slice((page - 1) * 10, page * 10);
    const bytes = (async function* () {
      yield Buffer.from(JSON.stringify(items));
    })();
    return { status: 200, headers: new Headers(headersOf(Math.ceil(count / 10))), body: bytes };
  };
  const api = createApiClient({ fetch, forge: "Test", apiUrl: "https://api.test", authorization: async () => null });
  const request = {
    path: "/comments",
    item: Type.Integer(),
    sizeName: "per_page",
    pageSize: 10,
    what: "read",
  } as const;
  return { asked, read: (newest: boolean) => listPages(api, { ...request, newest }, 3, signal) };
}

test.each([
  [
    "a link to the last page",
    (pages: number) => ({
      link: `<https://api.test/comments?page=${pages}>; rel="last", <https://api.test/x?page=2>; rel="next"`,
    }),
  ],
  ["a total", () => ({ "x-total-count": "95" })],
])("of a list that is too long, the newest pages are read: by %s", async (_how, headersOf) => {
  const list = listOf(95, headersOf);
  const items = await list.read(true);
  expect([items[0], items.at(-1), list.asked]).toEqual([71, 95, [1, 8, 9, 10]]);
  expect((await listOf(95, headersOf).read(false)).at(-1)).toBe(30);
  expect(await listOf(25, () => ({ "x-total-count": "25" })).read(true)).toHaveLength(25);
});
