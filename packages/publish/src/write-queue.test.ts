import { describe, expect, it } from "vitest";
import { PublishFault } from "./faults.ts";
import { createWriteQueue } from "./write-queue.ts";

const { signal } = new AbortController();
const limited = (retryAfterMs: number) =>
  new PublishFault("forge_unavailable", {
    publicMessage: "slow down",
    retryable: true,
    retryAfterMs,
    isRateLimit: true,
  });

describe("writes under one credential", () => {
  it("go one after the other, in order; those of another go their own way", async () => {
    const queue = createWriteQueue();
    const first = Promise.withResolvers<void>();
    const sent: string[] = [];
    const write = (credential: string, name: string, until?: Promise<void>) =>
      queue.write(
        credential,
        async () => {
          sent.push(`${name} begins`);
          await until;
          sent.push(`${name} ends`);
        },
        signal,
      );
    const all = [write("a", "one", first.promise), write("a", "two"), write("b", "three")];
    await all[2];
    expect(sent).toEqual(["one begins", "three begins", "three ends"]);
    first.resolve();
    await Promise.all(all);
    expect(sent.slice(3)).toEqual(["one ends", "two begins", "two ends"]);
  });

  it("do not wait for one that gets no answer, and its end is still heard", async () => {
    const queue = createWriteQueue({ turnMsMax: 20 });
    const silent = Promise.withResolvers<string>();
    const first = queue.write("a", () => silent.promise, signal);
    expect(await queue.write("a", async () => "second", signal)).toBe("second");
    silent.resolve("first");
    expect(await first).toBe("first");
  });

  it("go on after one fails", async () => {
    const queue = createWriteQueue();
    const failed = queue.write("a", () => Promise.reject(new Error("no")), signal);
    const next = queue.write("a", async () => "yes", signal);
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("yes");
  });

  it("keep their order when one that waits is given up", async () => {
    const queue = createWriteQueue();
    const first = Promise.withResolvers<void>();
    const giveUp = new AbortController();
    const sent: string[] = [];
    const one = queue.write("a", () => first.promise.then(() => void sent.push("one")), signal);
    const two = queue.write("a", async () => void sent.push("two"), giveUp.signal);
    const three = queue.write("a", async () => void sent.push("three"), signal);
    giveUp.abort(new Error("given up"));
    await expect(two).rejects.toThrow("given up");
    expect(sent).toEqual([]);
    first.resolve();
    await Promise.all([one, three]);
    expect(sent).toEqual(["one", "three"]);
  });
});

describe("Retry-After", () => {
  it("holds back writes and reads of the credential until its time", async () => {
    const queue = createWriteQueue();
    const begunMs = performance.now();
    await expect(queue.write("a", () => Promise.reject(limited(120)), signal)).rejects.toThrow("slow down");
    expect(await queue.read("b", async () => "other", signal)).toBe("other");
    const at = await Promise.all([
      queue.read("a", async () => performance.now(), signal),
      queue.write("a", async () => performance.now(), signal),
    ]);
    // Never early. How late depends on the machine.
    expect(Math.min(...at) - begunMs).toBeGreaterThanOrEqual(120);
  });

  it("of an unavailable server does not delay others", async () => {
    const queue = createWriteQueue();
    const down = new PublishFault("forge_unavailable", {
      publicMessage: "502",
      retryable: true,
      retryAfterMs: 3_600_000,
    });
    await expect(queue.write("a", () => Promise.reject(down), signal)).rejects.toThrow("502");
    expect(await queue.write("a", async () => "sent", signal)).toBe("sent");
  });

  it("of longer than a run should wait is handed back, and nothing is sent", async () => {
    const queue = createWriteQueue({ pauseMsMax: 1_000 });
    await queue.read("a", () => Promise.reject(limited(60_000)), signal).catch(() => {});
    let sent = false;
    const rejection = await queue
      .write(
        "a",
        async () => {
          sent = true;
        },
        signal,
      )
      .catch((error: unknown) => error);
    expect(rejection).toMatchObject({ code: "forge_unavailable", retryable: true });
    expect((rejection as PublishFault).retryAfterMs).toBeGreaterThan(59_000);
    expect(sent).toBe(false);
  });
});
