import { expect, test } from "vitest";
import { createSharedWork } from "./open-mirror.ts";

const signal = new AbortController().signal;

test("callers before the work begins share it, later ones get the next run", async () => {
  const shared = createSharedWork<number>();
  const batches: (readonly string[])[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const begun = Promise.withResolvers<void>();
  const work = async (members: readonly string[]) => {
    const batch = batches.push(members);
    begun.resolve();
    await gates[batch - 1]?.promise;
    return batch;
  };
  const join = (member: string) => shared.join("key", member, work, signal);
  const first = [join("a"), join("b")];
  await begun.promise;
  const second = [join("c"), join("d"), join("e")];
  gates[0]?.resolve();
  expect(await Promise.all(first)).toEqual([1, 1]);
  gates[1]?.resolve();
  expect(await Promise.all(second)).toEqual([2, 2, 2]);
  expect(batches).toEqual([
    ["a", "b"],
    ["c", "d", "e"],
  ]);
});

test("other keys do not wait, and a failure is everybody's but not the next one's", async () => {
  const shared = createSharedWork<string>();
  const fails = () => Promise.reject(new Error("failed"));
  const outcomes = await Promise.allSettled([
    shared.join("one", "a", fails, signal),
    shared.join("one", "b", fails, signal),
    shared.join("two", "c", async () => "fine", signal),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(await shared.join("one", "d", async () => "again", signal)).toBe("again");
});

test("the work is cancelled only when no caller waits for it", async () => {
  const shared = createSharedWork<string>();
  const controllers = [new AbortController(), new AbortController()];
  const begun = Promise.withResolvers<AbortSignal>();
  const work = (_: readonly string[], stop: AbortSignal) => {
    begun.resolve(stop);
    return new Promise<string>((_resolve, reject) => {
      stop.addEventListener("abort", () => reject(stop.reason), { once: true });
    });
  };
  const joined = controllers.map((controller, index) => shared.join("key", `${index}`, work, controller.signal));
  const settled = Promise.allSettled(joined);
  const stop = await begun.promise;
  controllers[0]?.abort(new Error("left"));
  await expect(joined[0]).rejects.toThrow("left");
  expect(stop.aborted).toBe(false);
  controllers[1]?.abort(new Error("left too"));
  await settled;
  expect(stop.aborted).toBe(true);
});

test("a caller after everybody left is not cancelled with them", async () => {
  const shared = createSharedWork<string>();
  const controller = new AbortController();
  const work = async (_: readonly string[], stop: AbortSignal) => {
    stop.throwIfAborted();
    return "done";
  };
  const left = shared.join("key", "a", work, controller.signal);
  controller.abort(new Error("left"));
  const stays = shared.join("key", "b", work, signal);
  await expect(left).rejects.toThrow("left");
  expect(await stays).toBe("done");
});
