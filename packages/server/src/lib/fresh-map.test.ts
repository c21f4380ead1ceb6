import { expect, test } from "vitest";
import { createFreshMap } from "./fresh-map.ts";

const always = { isFresh: () => true };

test("remembers what was read, and forgets what changed", async () => {
  const map = createFreshMap<string>(always, 10);
  expect(await map.load("a", async () => "1")).toBe("1");
  expect(map.get("a")).toBe("1");
  map.delete("a");
  expect(map.get("a")).toBeUndefined();
});

test("gives nothing while its source is not fresh, and knows that it knew", async () => {
  let isFresh = true;
  const map = createFreshMap<string>({ isFresh: () => isFresh }, 10);
  await map.load("a", async () => "1");
  isFresh = false;
  expect(map.get("a")).toBeUndefined();
  expect(map.has("a")).toBe(true);
});

test.each(["delete", "clear"] as const)("does not remember a value that a %s outran", async (how) => {
  const map = createFreshMap<string>(always, 10);
  const { promise, resolve } = Promise.withResolvers<string>();
  const loading = map.load("a", () => promise);
  how === "delete" ? map.delete("a") : map.clear();
  resolve("old");
  expect(await loading).toBe("old");
  expect(map.get("a")).toBeUndefined();
});

test("does not remember what is not there", async () => {
  const map = createFreshMap<string>(always, 10);
  await map.load("a", async () => undefined);
  expect(map.has("a")).toBe(false);
});

test("stays within its bound", async () => {
  const map = createFreshMap<number>(always, 3);
  for (const n of [1, 2, 3, 4, 5]) await map.load(String(n), async () => n);
  expect(map.size).toBe(3);
  expect(map.get("5")).toBe(5);
  expect(map.get("1")).toBeUndefined();
});
