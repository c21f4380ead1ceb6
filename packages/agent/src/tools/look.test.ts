import { type Calls, finish, openLoopBench, toolMessages } from "@emend/testkit/loop-bench.ts";
import { scriptedModel } from "@emend/testkit/scripted-model.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Model } from "../agent.ts";
import { namedIn } from "../attachments.ts";

let bench: Awaited<ReturnType<typeof openLoopBench>>;
beforeAll(async () => {
  bench = await openLoopBench();
});
afterAll(() => bench.close());

const look = (path: string): Calls => [["look", { path }]];
const edit: Calls = [["edit_file", { path: "index.md", oldText: "Hello world.", newText: "Hello." }]];

/** What the model sees in each turn: the names of the pictures, and the tools. */
function watching(script: readonly Calls[]) {
  const seen: { pictures: string[]; tools: string[] }[] = [];
  const scripted = scriptedModel((turn) => script[turn] ?? finish);
  const model: Model = {
    ...scripted,
    nextTurn(input, signal) {
      const { messages, attachments = [], tools } = input;
      const pictures = messages.flatMap((message) => namedIn(message, attachments).map(({ name }) => name));
      seen.push({ pictures, tools: tools.map(({ name }) => name) });
      return scripted.nextTurn(input, signal);
    },
  };
  return { model, seen };
}

it("shows the pictures of the newest look, and says of older ones that they are gone", async () => {
  const { model, seen } = watching([look("index.md"), edit, look("guide.md")]);
  const { run, deps, steps } = await bench.start(model);
  deps.look = async (path) => [{ name: `${path}, wide`, webp: Buffer.from("RIFF") }];
  expect(await run()).toMatchObject({ kind: "finished" });
  expect(seen.map(({ pictures }) => pictures)).toEqual([
    [],
    ["index.md, wide"],
    ["index.md, wide"],
    ["guide.md, wide"],
  ]);
  const words = steps.flatMap(({ messages }) => messages.filter((one) => one.role === "user" && one.from === "look"));
  expect(JSON.stringify(words)).toContain("Without a picture here, look again.");
  // Nothing of a picture is stored with the steps.
  expect(JSON.stringify(steps)).not.toContain("RIFF");
});

it("is offered only where pages can be shown, and five times in a round", async () => {
  const without = watching([look("index.md")]);
  const blind = await bench.start(without.model);
  await blind.run();
  expect(without.seen[0]?.tools).not.toContain("look");
  expect(toolMessages(blind.steps)[0]).toMatchObject({
    isError: true,
    output: expect.stringContaining("cannot be shown"),
  });

  const calls = Array.from({ length: 6 }, (_, at) => look(`page-${at}.md`));
  const often = watching(calls);
  const { run, deps, steps } = await bench.start(often.model);
  deps.look = async (path) => (path === "page-0.md" ? [] : [{ name: path, webp: Buffer.from("RIFF") }]);
  await run();
  expect(often.seen[0]?.tools).toContain("look");
  const said = toolMessages(steps).filter(({ name }) => name === "look");
  expect(said[0]).toMatchObject({ isError: true, output: expect.stringContaining("there is no picture of page-0.md") });
  expect(said.slice(1).every(({ isError }) => !isError)).toBe(true);
  const more = await bench.start(watching([...calls, look("page-7.md")]).model);
  more.deps.look = async (path) => [{ name: path, webp: Buffer.from("RIFF") }];
  await more.run();
  expect(toolMessages(more.steps).filter(({ isError }) => isError)).toMatchObject([
    { output: expect.stringContaining("no look is left") },
    { output: expect.stringContaining("no look is left") },
  ]);
});
