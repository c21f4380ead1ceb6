import { expect, it } from "vitest";
import { createKeyedMutex } from "../lib/locks.ts";
import { redactSecrets, secretsIn, UnsearchableText } from "./secrets-in.ts";

const github = ["ghp", "_", "0123456789abcdefABCDEF0123456789abcd"].join("");

it("a page cannot turn the search off", async () => {
  for (const words of [
    "<!-- secretlint-disable -->",
    "secretlint-disable-line",
    "<!-- secretlint-disable-next-line -->",
  ])
    expect(await redactSecrets(`${words}\n${github} ${words}`)).toBe(`${words}\n[redacted: github] ${words}`);
});

it("the line is that of readers who split at line feeds, whatever else breaks lines", async () => {
  expect(await secretsIn(`a\r\r\u2028\u2029\r${github}\n${github}\r\n\n${github}`)).toMatchObject([
    { line: 1 },
    { line: 2 },
    { line: 4 },
  ]);
});

it("a text with too many credentials is refused, not searched to its end", async () => {
  await expect(secretsIn("xapp-1-a ".repeat(100_000))).rejects.toThrow(UnsearchableText);
  expect(await secretsIn("xapp-1-a ".repeat(500))).toHaveLength(500);
});

it("the event loop goes round while a text is searched", async () => {
  await secretsIn("the thread is there");
  let rounds = 0;
  let isOver = false;
  const goRound = () => {
    rounds += 1;
    if (!isOver) setImmediate(goRound);
  };
  setImmediate(goRound);
  await secretsIn("https://a:b@c ghs_1_a. ".repeat(20_000));
  isOver = true;
  expect(rounds).toBeGreaterThan(20);
});

it("a search that takes too long is stopped, and the next one starts a new thread", async () => {
  const slow = "https://a:b@c ghs_1_a. ".repeat(20_000);
  await expect(secretsIn(slow, [], { msMax: 1 })).rejects.toThrow("took too long");
  expect(await secretsIn(github)).toHaveLength(1);
});

it("nothing is kept of a search", async () => {
  const before = performance.getEntries().length;
  for (let count = 0; count < 20; count += 1) await secretsIn(github);
  expect(performance.getEntries().length).toBe(before);
});

it("work of one key goes one after the other, that of another key beside it, and too much is refused", async () => {
  const mutex = createKeyedMutex({ waitingMax: 1 });
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const work = (name: string) => async () => {
    begun.push(name);
    await gate;
    return name;
  };
  const [first, second, other] = [
    mutex.run("a", work("first")),
    mutex.run("a", work("second")),
    mutex.run("b", work("other")),
  ];
  expect(mutex.run("a", work("third"))).toBeNull();
  await new Promise(setImmediate);
  expect(begun).toEqual(["first", "other"]);
  open();
  expect(await Promise.all([first, second, other])).toEqual(["first", "second", "other"]);
  await expect(mutex.run("a", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await mutex.run("a", work("after a failure"))).toBe("after a failure");
});
