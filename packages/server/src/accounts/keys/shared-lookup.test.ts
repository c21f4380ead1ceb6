import { expect, test } from "vitest";
import { createSharedLookup } from "./keyring.ts";

function createReader() {
  const asked: string[][] = [];
  const read = async (ids: readonly string[]) => {
    asked.push([...ids]);
    return new Map(ids.filter((id) => id.startsWith("k")).map((id) => [id, id.toUpperCase()]));
  };
  return { asked, read };
}

test("those that ask within the pause share one query, and each gets its own", async () => {
  const { asked, read } = createReader();
  const lookUp = createSharedLookup({ pauseMs: 5, waitingMax: 10, read });
  expect(await Promise.all(["k1", "x", "k2", "k1"].map(lookUp))).toEqual(["K1", undefined, "K2", "K1"]);
  expect(asked).toEqual([["k1", "x", "k2"]]);
  expect(await lookUp("k3")).toBe("K3");
  expect(asked).toHaveLength(2);
});

test("a full line finds nothing, and takes no memory", async () => {
  const { asked, read } = createReader();
  const lookUp = createSharedLookup({ pauseMs: 5, waitingMax: 2, read });
  expect(await Promise.all(["k1", "k2", "k3", "k2"].map(lookUp))).toEqual(["K1", "K2", undefined, "K2"]);
  expect(asked).toEqual([["k1", "k2"]]);
});

test("a failed query fails only for those who waited for it", async () => {
  let isAway = true;
  const lookUp = createSharedLookup({
    pauseMs: 1,
    waitingMax: 2,
    async read(ids) {
      if (isAway) throw new Error("away");
      return new Map(ids.map((id) => [id, id]));
    },
  });
  await expect(lookUp("a")).rejects.toThrow("away");
  isAway = false;
  expect(await lookUp("a")).toBe("a");
});
