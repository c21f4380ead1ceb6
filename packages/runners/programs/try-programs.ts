// npm run test:programs [-- claude-code codex opencode]
// The real programs behind runner/…, installed from npm into a folder of their own, work in the sandbox against a scripted
// vendor, through a whole installation. Not part of npm test: it downloads some hundred megabytes.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { startFarModel } from "@emend/testkit/far-model.ts";
import { judge } from "../../lab/eval/judge.ts";
import { attempt } from "../../lab/eval/product.ts";
import { evalTasks } from "../../lab/eval/tasks/index.ts";
import { startServer } from "../../server/src/compose/compose.ts";
import { loadConfig } from "../../server/src/config/config.ts";
import { forgeDirOf } from "../../server/src/installation/local-git.ts";
import { installPrograms, programs, programsBin, runHere } from "./install-programs.ts";

type Script = Parameters<typeof startFarModel>[0];
const file = "docs/guides/retries.md";
const [oldText, newText] = ["title: Retries", "title: Delivery and retries"];
const words = "TITLE: Retitle the retries guide\nSUMMARY:\nThe title of the page is now Delivery and retries.";

const chosen = programs.filter(({ runner }) => process.argv.length < 3 || process.argv.includes(runner));
const dir = await mkdtemp(join(tmpdir(), "emend-programs-"));
await installPrograms(chosen);

const far = await startFarModel(answerAsVendor);
const environment = {
  ...far.environment,
  PATH: [programsBin, process.env.PATH].join(delimiter),
  EMEND_LOG_LEVEL: "warn",
  EMEND_RUNNER_UNSANDBOXED: "0",
};
const config = loadConfig(environment, { dataDir: join(dir, "data"), port: 0, host: "127.0.0.1" });
const server = await startServer(config, { logTo: process.stderr });
const failed: string[] = [];
try {
  const product = { server, forgeDir: forgeDirOf(config), scratchDir: dir };
  const task = evalTasks().find(({ name }) => name === "mkdocs: a page's title");
  if (!task) throw new Error("the eval has no such task any more");
  for (const { runner, command, model } of chosen) {
    const version = runHere(join(programsBin, command), ["--version"]).trim();
    const { answer, figures } = await attempt(product, `runner/${runner}${model}`, task, AbortSignal.timeout(180_000));
    const problems = judge(task, answer);
    if (problems.length > 0) failed.push(runner);
    const how =
      problems.length === 0 ? "opened its pull request" : `failed: ${problems.join("; ")} (${answer.summary})`;
    console.log(
      `${problems.length === 0 ? "✓" : "✗"} ${runner} ${version}: ${how} after ${figures.turns} runs, ${(figures.ms / 1000).toFixed(1)} s`,
    );
  }
} finally {
  await server.stop();
  await far.stop();
  await rm(dir, { recursive: true, force: true });
}
console.log(`${chosen.length - failed.length} passed, ${failed.length} failed`);
if (failed.length > 0) process.exitCode = 1;

/** What a vendor's model would say to whichever program asks: it edits one file with the tools that the program offers. */
function answerAsVendor(turn: number, request: Parameters<Script>[1]): ReturnType<Script> {
  const offered = new Set((request.tools ?? []).map((tool) => tool.function.name));
  const text = JSON.stringify(request.messages);
  const folder = /(?:Primary working directory|Working directory|<cwd>|cwd): ?([^\s<"\\]+)/.exec(text)?.[1] ?? ".";
  const path = `${folder}/${file}`;
  if (offered.has("Edit")) {
    if (turn === 0) return [["Read", { file_path: path }]];
    if (turn === 1) return [["Edit", { file_path: path, old_string: oldText, new_string: newText }]];
  } else if (offered.has("edit")) {
    if (turn === 0) return [["read", { filePath: path }]];
    if (turn === 1) return [["edit", { filePath: path, oldString: oldText, newString: newText }]];
  } else if (offered.has("exec_command")) {
    if (turn === 0) return [["exec_command", { cmd: `sed -i 's/^${oldText}$/${newText}/' ${file}` }]];
  } else if (offered.has("shell")) {
    if (turn === 0) return [["shell", { command: ["sed", "-i", `s/^${oldText}$/${newText}/`, file] }]];
  }
  return words;
}
