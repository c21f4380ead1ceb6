import { expect, test } from "vitest";
import { homeOf, slotsOf } from "./home-workers.ts";

function slotsAmong(own: number, workers: readonly number[]): Set<number> {
  const bits = slotsOf(own, workers) ?? Buffer.alloc(128, 0xff);
  return new Set(
    Array.from({ length: 1_024 }, (_, slot) => slot).filter((slot) => (bits[slot >> 3] ?? 0) & (1 << (slot & 7))),
  );
}

test("each slot has two homes, spread evenly, and a worker that leaves moves only its own", () => {
  const workers = Array.from({ length: 16 }, (_, index) => homeOf(`host-${index}`, "/data"));
  const before = new Map(workers.map((worker) => [worker, slotsAmong(worker, workers)]));
  for (let slot = 0; slot < 1_024; slot += 1)
    expect([...before.values()].filter((slots) => slots.has(slot))).toHaveLength(2);
  // 128 on average.
  for (const slots of before.values()) expect(slots.size).toSatisfy((size: number) => size > 80 && size < 180);

  const [gone = 0, ...rest] = workers;
  for (const worker of rest) {
    const [had, has] = [before.get(worker), slotsAmong(worker, rest)];
    expect([...(had ?? [])].filter((slot) => !has.has(slot))).toEqual([]);
    expect([...has].filter((slot) => !had?.has(slot) && !before.get(gone)?.has(slot))).toEqual([]);
  }
});

test("with at most two workers, or several processes that share their folder, each is a home of every project", () => {
  expect(slotsOf(11, [])).toBeNull();
  expect(slotsOf(11, [42])).toBeNull();
  expect(slotsOf(11, [11, 42, 42])).toBeNull();
});
