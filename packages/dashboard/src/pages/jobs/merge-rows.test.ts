import type { DashboardJobRow } from "@emend/contract";
import { expect, it } from "vitest";
import { mergeRows } from "./jobs-page.tsx";

const job = (id: string, status = "completed") => ({ id, status }) as DashboardJobRow;
const page = (jobs: DashboardJobRow[], nextCursor: string | null = null) => ({ jobs, nextCursor });
const told = (merged: ReturnType<typeof mergeRows>) =>
  merged.kind === "rows" ? merged.rows.map(({ id, status }) => `${id} ${status}`) : merged.kind;

it("puts new jobs on top and new states in their place", () => {
  const head = page([job("d", "active"), job("c")], "c");
  const merged = mergeRows([job("c", "active"), job("b", "active"), job("a")], {
    head,
    watched: [job("b", "failed")],
    status: undefined,
  });
  expect(told(merged)).toEqual(["d active", "c completed", "b failed", "a completed"]);
});

it("leaves out what was archived or has another status by now", () => {
  const loaded = [job("d"), job("c", "active"), job("b", "active"), job("a")];
  const head = page([job("c", "active")], "c");
  expect(told(mergeRows(loaded, { head, watched: [job("b", "archived")], status: undefined }))).toEqual([
    "c active",
    "a completed",
  ]);
  expect(
    told(mergeRows([job("b", "active")], { head: page([job("b", "failed")], null), watched: [], status: "active" })),
  ).toEqual([]);
});

it("says where more came than the newest page tells", () => {
  expect(told(mergeRows([job("a")], { head: page([job("z"), job("y")], "y"), watched: [], status: undefined }))).toBe(
    "gap",
  );
  expect(told(mergeRows([], { head: page([job("a")]), watched: [], status: undefined }))).toEqual(["a completed"]);
});
