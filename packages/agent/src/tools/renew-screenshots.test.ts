import { type Calls, finish, openLoopBench, toolMessages } from "@emend/testkit/loop-bench.ts";
import { scriptedModel } from "@emend/testkit/scripted-model.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeTools } from "./registry.ts";

let bench: Awaited<ReturnType<typeof openLoopBench>>;
beforeAll(async () => {
  bench = await openLoopBench();
});
afterAll(() => bench.close());

const renew: Calls = [["renew_screenshots", {}]];
const write = (turn: number): Calls => [["write_file", { path: `p${turn}.md`, content: "# P\n" }]];

it("writes the screenshots that changed, and says which were not taken, three times in a round", async () => {
  const { run, deps, steps, overlay } = await bench.start(
    scriptedModel((turn) => (turn > 6 ? finish : turn % 2 === 0 ? renew : write(turn))),
  );
  deps.refusePath = (path) => (path.startsWith("ci/") ? "policy" : null);
  deps.takeScreenshots = async () => [
    { file: "a.png", kind: "renewed", bytes: Buffer.from("new") },
    { file: "b.png", kind: "same" },
    { file: "c.png", kind: "failed", words: "nothing answers" },
    { file: "ci/d.png", kind: "renewed", bytes: Buffer.from("new") },
  ];
  await run();
  expect(overlay.entries().map(({ path }) => path)).toEqual(["a.png", "p1.md", "p3.md", "p5.md"]);
  const [first, , , , third, , fourth] = toolMessages(steps).map(({ output }) => output);
  expect(first).toBe("files: 1\nscreenshots: 1\nleft alone:\n- c.png:1: nothing answers\n- ci/d.png:1: policy");
  expect(third).toBe(first);
  expect(fourth).toContain("often enough");
});

it("is offered only where screenshots are declared", async () => {
  const { run, steps } = await bench.start(scriptedModel((turn) => (turn === 0 ? renew : finish)));
  await run();
  expect(toolMessages(steps)[0]).toMatchObject({ isError: true, output: expect.stringContaining("build.on") });
  const names = (which: object) => describeTools(which).map(({ name }) => name);
  expect(names({})).not.toContain("renew_screenshots");
  expect(names({ mayRenew: true })).toContain("renew_screenshots");
});
