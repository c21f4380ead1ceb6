// Costly: a runner is a program, and its limits hold processes; a function in this process could not outlive its run.
import { readdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { trySandbox } from "@emend/runners";
import { listProcesses } from "@emend/testkit/processes.ts";
import { type StandIn, standIn } from "@emend/testkit/runners/stand-in.ts";
import { testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay, type Overlay, startBound } from "@emend/tree";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { AgentOutcome, AgentTask, Step } from "./agent.ts";
import { handOverOf, instructionsFor, openRunnerModel } from "./runner-model.ts";

const runnerNames = ["claude-code", "codex", "opencode"];
const apiKey = "sk-model-0123456789";
const trial = await trySandbox(startBound, process.env.PATH ?? "");
const hasSandbox = trial.kind === "usable";
/** Skipped without bubblewrap. `npm test` names what was skipped, and in CI fails on it. */
const itInSandbox = it.skipIf(!hasSandbox);

let trees: TestTrees;
let base: CommitTree;
let far: Server;
let farPort: number;
const heard: string[] = [];
beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open({
    "index.md": "# Home\n\nAn API token.\n",
    "guides/auth.md": "# Auth\n",
    "old.md": "# Old\n",
    "run.sh": { content: "#!/bin/sh\n", mode: "100755" },
    "link.md": { content: "/etc/passwd", mode: "120000" },
    ".claude/settings.json": '{"hooks":{"Stop":[{"command":"touch /tmp/owned"}]}}\n',
    "AGENTS.md": "Write plainly.\n",
  });
  far = createServer((request, response) => {
    heard.push(`${request.url} ${request.headers["x-api-key"] ?? request.headers.authorization}`);
    response.end("model says hi");
  });
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
  farPort = (far.address() as { port: number }).port;
});
afterAll(async () => {
  await trees.close();
  far.close();
});

const standIns: StandIn[] = [];
afterEach(async () => {
  for (const one of standIns.splice(0)) await one.remove();
});

async function standInFor(script: string): Promise<StandIn> {
  const programs = await standIn(script);
  standIns.push(programs);
  return programs;
}

interface Run {
  outcome: AgentOutcome;
  overlay: Overlay;
  steps: Step[];
}

async function open(script: string, options: { name?: string; unsandboxed?: boolean; memoryMb?: number } = {}) {
  const programs = await standInFor(script);
  const endpoint = { apiKey, baseUrl: `http://127.0.0.1:${farPort}` };
  return openRunnerModel(
    {
      settings: {
        path: programs.path,
        allowed: runnerNames,
        isUnsandboxed: options.unsandboxed ?? !hasSandbox,
        memoryBytesMax: (options.memoryMb ?? 2_048) * 2 ** 20,
      },
      fetch: globalThis.fetch,
      endpoints: { anthropic: endpoint, openai: endpoint },
      keyOf: async () => null,
    },
    options.name ?? "runner/claude-code",
  );
}

async function run(
  script: string,
  options: Parameters<typeof open>[1] & {
    limits?: Partial<typeof testLimits>;
    task?: Partial<AgentTask>;
    signal?: AbortSignal;
  } = {},
): Promise<Run> {
  const model = await open(script, options);
  const overlay = await createOverlay(base);
  const steps: Step[] = [];
  const outcome = await model.run?.(
    {
      model,
      limits: { ...testLimits, ...options.limits },
      saveStep: async (step) => void steps.push(JSON.parse(JSON.stringify(step))),
    },
    { jobId: "job_1", prompt: "Say access key.", docsDir: "", base, overlay, steps: [], ...options.task },
    options.signal ?? new AbortController().signal,
  );
  if (!outcome) throw new Error("no runner");
  return { outcome, overlay, steps };
}

/** The program reports its progress to the mock server. */
const tellFar = "await ask();";
const forEver = "setInterval(() => {}, 1000); await new Promise(() => {});";

function untilFarHears(): Promise<void> {
  return new Promise((resolve) => far.once("request", () => resolve()));
}

/** The time limit is reached as soon as the program has reported that it is running. */
async function runUntilTimeIsUp(script: string, options: Parameters<typeof run>[1] = {}): Promise<Run> {
  const clock = new AbortController();
  const timer = vi.spyOn(AbortSignal, "timeout").mockReturnValue(clock.signal);
  try {
    void untilFarHears().then(() => clock.abort());
    return await run(script, options);
  } finally {
    timer.mockRestore();
  }
}

const edit = `
fs.writeFileSync("index.md", fs.readFileSync("index.md", "utf8").replace("API token", "access key"));
fs.mkdirSync("guides/new", { recursive: true });
fs.writeFileSync("guides/new/page.md", "# New\\n");
fs.rmSync("old.md");
answer("TITLE: Say access key\\nSUMMARY:\\nReplaced the term.");`;

/** Searches everything that it can read for the model's key and its own token: variables, processes, files. */
const keyHunt = `
const needles = { key: ["sk-model", "0123456789"].join("-"), token: access().headers["x-api-key"] ?? access().headers.authorization.slice(7) };
const found = [];
const look = (where, bytes) => { for (const [what, needle] of Object.entries(needles)) if (bytes.includes(needle)) found.push(what + " " + where); };
look("environment", JSON.stringify(process.env));
let seen = 0;
const walk = (folder, depth) => {
  let entries = [];
  try { entries = fs.readdirSync(folder, { withFileTypes: true }); } catch {}
  for (const entry of entries) {
    const path = folder === "/" ? "/" + entry.name : folder + "/" + entry.name;
    if (/^\\/(usr|lib|lib64|bin|sbin|sys|dev|etc\\/ssl)(\\/|$)|node_modules|^\\/run\\/emend\\/bin|kcore|kmsg|kpage|pagemap|\\/(self|thread-self)\\//.test(path + "/")) continue;
    if (entry.isDirectory() && depth < 6) walk(path, depth + 1);
    if (!entry.isFile()) continue;
    seen += 1;
    try { if (fs.statSync(path).size < 2 ** 22) look(path, fs.readFileSync(path, "latin1")); } catch {}
  }
};
for (const folder of HUNTED) walk(folder, 0);
const answered = await ask();
answer("TITLE: x\\nSUMMARY:\\n" + JSON.stringify({ answered, seen, found }));`.replace(
  "HUNTED",
  // Without a sandbox it would search the whole machine, including this test's own text.
  hasSandbox ? '["/"]' : '[process.env.HOME, process.cwd(), "/proc/" + process.pid]',
);

describe(`a runner, ${hasSandbox ? "in bubblewrap" : "without a sandbox, because bubblewrap is not usable here"}`, () => {
  it.each(["runner/claude-code", "runner/codex", "runner/opencode", "runner/claude-code/sonnet"])(
    "%s: what it leaves in the checkout becomes the overlay, its answer the title and the summary",
    async (name) => {
      const { outcome, overlay, steps } = await run(edit, { name });
      expect(outcome).toEqual({ kind: "finished", title: "Say access key", summary: "Replaced the term." });
      const edits = overlay.entries().map(({ path, content }) => [path, content?.toString() ?? null]);
      expect(edits).toEqual([
        ["guides/new/page.md", "# New\n"],
        ["index.md", "# Home\n\nAn access key.\n"],
        ["old.md", null],
      ]);
      expect(steps).toHaveLength(1);
      expect(steps[0]?.usage).toMatchObject({ model: name });
      if (!name.includes("codex")) expect(steps[0]?.usage).toMatchObject({ costUsd: 0.25, outputTokens: 7 });
    },
  );

  it("is not run again once its step is stored", async () => {
    const first = await run(edit);
    const again = await run("process.exit(1)", { task: { steps: first.steps, overlay: first.overlay } });
    expect(again.outcome).toEqual(first.outcome);
    expect(again.steps).toEqual([]);
  });

  it("sees the task on standard input, the docs, no git, no links, and no settings that run commands", async () => {
    const { outcome } = await run(`
const seen = fs.readdirSync(".", { recursive: true }).sort().join(" ");
answer("TITLE: x\\nSUMMARY:\\n" + JSON.stringify({ seen, asked: prompt.includes("Say access key."), args, mode: fs.statSync("run.sh").mode & 0o777 }));`);
    expect(outcome.kind).toBe("unchanged");
    const { seen, asked, args, mode } = JSON.parse(outcome.summary);
    expect(seen).toBe("AGENTS.md guides guides/auth.md index.md old.md run.sh");
    expect([asked, mode]).toEqual([true, 0o755]);
    expect(args.join(" ")).toMatch(/^--print --output-format json .*--disallowedTools Bash,WebFetch,WebSearch$/);
  });

  it("has its own environment: this run's token, and nothing from the server", async () => {
    process.env.EMEND_SECRET_OF_TEST = "forge-token";
    try {
      const { outcome } = await run(`answer("TITLE: x\\nSUMMARY:\\n" + JSON.stringify(process.env));`);
      const environment: Record<string, string> = JSON.parse(outcome.summary);
      expect(JSON.stringify(environment)).not.toContain("forge-token");
      expect(environment).toMatchObject({ ANTHROPIC_API_KEY: expect.stringMatching(/^emend-run-[\w-]{43}$/) });
      const known =
        /^(HOME|PATH|PWD|TMPDIR|LANG|TERM|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|NODE_USE_ENV_PROXY|ANTHROPIC_.*|CLAUDE_CODE_.*|DISABLE_AUTOUPDATER|OLDPWD|SHLVL|_)$/;
      expect(Object.keys(environment).filter((name) => !known.test(name))).toEqual([]);
    } finally {
      delete process.env.EMEND_SECRET_OF_TEST;
    }
  });

  it.each(["runner/claude-code", "runner/codex", "runner/opencode", "runner/opencode/openai/gpt-5"])(
    "%s is answered by its model without ever having the key",
    async (name) => {
      heard.length = 0;
      const { outcome } = await run(keyHunt, { name });
      const { answered, seen, found } = JSON.parse(outcome.summary);
      expect(answered).toBe("200 model says hi");
      const shown = /codex|openai/.test(name) ? `/responses Bearer ${apiKey}` : `/v1/messages ${apiKey}`;
      expect(heard).toEqual([shown]);
      // The search finds its own token, and no part of the key.
      expect(found.map((one: string) => one.split(" ")[0])).not.toContain("key");
      expect(found).toContain("token environment");
      expect(seen).toBeGreaterThan(20);
    },
  );

  it("asks its model through the gateway, and reaches nothing else through it", async () => {
    heard.length = 0;
    const { outcome } = await run(`
const got = {
  model: await attempt(() => ask()),
  stranger: await attempt(() => ask({ headers: { "x-api-key": "sk-of-somebody-else" } })),
  files: await attempt(() => ask({ path: "/files" })),
  tunnel: await attempt(() => tunnel("127.0.0.1:${farPort}")),
  other: await attempt(() => tunnel("example.com:443")),
  metadata: await attempt(() => tunnel("169.254.169.254:80")),
};
answer("TITLE: x\\nSUMMARY:\\n" + JSON.stringify(got));`);
    expect(JSON.parse(outcome.summary)).toEqual({
      model: "200 model says hi",
      stranger: expect.stringMatching(/^401 /),
      files: expect.stringMatching(/^403 /),
      tunnel: 403,
      other: 403,
      metadata: 403,
    });
    expect(heard).toEqual([`/v1/messages ${apiKey}`]);
  });

  itInSandbox(
    "has no memory but its processes' and the two small places that are bounded (needs bubblewrap)",
    async () => {
      const { outcome } = await run(`
const fill = (file, mib) => attempt(() => {
  const handle = fs.openSync(file, "w");
  const piece = Buffer.alloc(2 ** 20);
  for (let more = 0; more < mib; more += 1) if (fs.writeSync(handle, piece) < piece.length) throw { code: "ENOSPC" };
  return mib;
});
const got = { root: await fill("/x", 1), dev: await fill("/dev/x", 1), run: await fill("/run/emend/x", 1), shm: await fill("/dev/shm/x", 65), tmp: await fill("/tmp/x", 1), tmpBytes: await attempt(() => { const { blocks, bsize } = fs.statfsSync("/tmp"); return blocks * bsize; }) };
answer("TITLE: x\\nSUMMARY:\\n" + JSON.stringify(got));`);
      const readOnly = "EROFS";
      expect(JSON.parse(outcome.summary)).toEqual({
        root: readOnly,
        dev: readOnly,
        run: readOnly,
        shm: "ENOSPC",
        tmp: 1,
        tmpBytes: 512 * 2 ** 20,
      });
    },
  );

  itInSandbox("makes no user namespace of its own, where bubblewrap can forbid it (needs bubblewrap)", async () => {
    if (trial.kind !== "usable") throw new Error(trial.kind);
    const { outcome } = await run(`
const child = spawn("unshare", ["--user", "true"], { stdio: "ignore" });
const code = await new Promise((resolve) => child.on("error", (error) => resolve(error.code)).on("exit", resolve));
answer("TITLE: x\\nSUMMARY:\\ncode " + code);`);
    expect(outcome.summary).toBe(`code ${trial.own.length > 0 ? 1 : 0}`);
  });

  it("is ended at its time limit, whatever it ignores, and what it had done is kept", async () => {
    const { outcome, overlay, steps } = await runUntilTimeIsUp(
      `process.on("SIGTERM", () => {}); fs.writeFileSync("index.md", "# Half\\n"); ${tellFar} ${forEver}`,
    );
    expect(outcome).toMatchObject({ kind: "stopped", code: "timeout" });
    expect(overlay.entries().map(({ path }) => path)).toEqual(["index.md"]);
    expect(steps).toHaveLength(1);
  });

  it("is ended above its memory", async () => {
    // It stops at a gigabyte by itself: where nothing limits it, the machine must survive the test.
    const { outcome } = await run(
      `const held = []; setInterval(() => held.length < 16 && held.push(Buffer.alloc(64 * 2 ** 20, 1)), 20); await new Promise(() => {});`,
      { memoryMb: 400, limits: { wallTimeMsMax: 60_000 } },
    );
    expect(outcome).toMatchObject({ kind: "stopped", code: "budget_exceeded", summary: expect.stringMatching(/MiB/) });
  });

  it("ends with the run that it belongs to, and stores nothing then", async () => {
    const stop = new AbortController();
    const started = untilFarHears();
    const running = run(`fs.writeFileSync("index.md", "x"); ${tellFar} ${forEver}`, { signal: stop.signal });
    await started;
    stop.abort();
    await expect(running).rejects.toThrow();
  });

  it("leaves no child behind that outlives it", async () => {
    const marker = `outlives-${process.pid}`;
    const { outcome } = await run(`
const code = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)";
for (let more = 0; more < 8; more += 1) {
  const child = spawn(process.execPath, ["-e", code, "${marker}"], { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
}
answer("TITLE: x\\nSUMMARY:\\nup");
process.exit(0);`);
    expect(outcome).toMatchObject({ kind: "unchanged", summary: "up" });
    expect(processesWith(marker)).toEqual([]);
  });

  it("tells in the program's own words why it failed, without the key", async () => {
    await expect(run(`console.error("bad key ${apiKey}"); process.exit(3);`)).rejects.toMatchObject({
      code: "model_unavailable",
      publicMessage: "The runner claude-code failed: bad key …",
    });
    const saidSo = `console.log(JSON.stringify({ type: "result", is_error: true, result: "credit is too low" }));`;
    await expect(run(saidSo)).rejects.toMatchObject({ publicMessage: expect.stringContaining("credit is too low") });
  });
});

function processesWith(words: string): string[] {
  const others = listProcesses().filter(({ pid }) => pid !== process.pid);
  return others.flatMap(({ command }) => (command.includes(words) ? [command] : []));
}

describe("isolation", () => {
  const probe = `
const got = {
  shadow: await attempt(() => fs.readFileSync("/etc/shadow", "utf8").length),
  passwd: await attempt(() => fs.readFileSync("/etc/passwd", "utf8").includes("root:")),
  server: await attempt(() => fs.readFileSync(${JSON.stringify("/proc/PID/environ")}, "utf8").length),
  forge: await attempt(() => fs.readFileSync("FORGE", "utf8")),
  outside: await attempt(() => fs.writeFileSync("FORGE.written", "x")),
  direct: await attempt(() => direct(FAR, "127.0.0.1")),
  processes: fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length,
};
answer("TITLE: x\\nSUMMARY:\\n" + JSON.stringify(got));`;

  itInSandbox("of files, processes and network holds in the sandbox (needs bubblewrap)", async () => {
    const secret = await standIn("");
    await writeFile(`${secret.dir}/forge`, "forge-token");
    const script = probe
      .replace("PID", String(process.pid))
      .replaceAll("FORGE", `${secret.dir}/forge`)
      .replace("FAR", String(farPort));
    const { outcome } = await run(script);
    const got = JSON.parse(outcome.summary);
    expect(got).toMatchObject({
      shadow: "ENOENT",
      passwd: false,
      server: "ENOENT",
      forge: "ENOENT",
      outside: "ENOENT",
      direct: "ECONNREFUSED",
    });
    // Processes of bubblewrap, of Emend and of the program.
    expect(got.processes).toBeLessThanOrEqual(4);
    expect(await readdir(secret.dir)).toEqual(["bin", "forge"]);
    await secret.remove();
  });

  it("is refused where bubblewrap is not on the PATH, unless the operator says so", async () => {
    const programs = await standIn("");
    const open = (isUnsandboxed: boolean) =>
      openRunnerModel(
        {
          settings: { allowed: runnerNames, path: `${programs.dir}/bin`, isUnsandboxed, memoryBytesMax: 1 },
          fetch: globalThis.fetch,
          endpoints: { anthropic: { apiKey, baseUrl: null } },
          keyOf: async () => null,
        },
        "runner/claude-code",
      );
    await expect(open(false)).rejects.toMatchObject({ publicMessage: expect.stringMatching(/bwrap.*UNSANDBOXED=1/) });
    expect(await open(true)).toMatchObject({ name: "runner/claude-code" });
    await programs.remove();
  });
});

describe("without a sandbox", () => {
  it("works where the operator says so, with the same caps on what it leaves", async () => {
    const { outcome, overlay } = await run(edit, { unsandboxed: true });
    expect(outcome.kind).toBe("finished");
    expect(overlay.entries()).toHaveLength(3);
  });

  it("ends the whole process group", async () => {
    const marker = `group-${process.pid}`;
    const { outcome } = await runUntilTimeIsUp(
      `const code = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)";
const child = spawn(process.execPath, ["-e", code, "${marker}"], { stdio: ["ignore", "pipe", "ignore"] });
await new Promise((resolve) => child.stdout.once("data", resolve));
process.on("SIGTERM", () => {}); ${tellFar} ${forEver}`,
      { unsandboxed: true },
    );
    expect(processesWith(marker)).toEqual([]);
    expect(outcome).toMatchObject({ kind: "stopped", code: "timeout" });
  });
});

describe("opening", () => {
  it.each([
    ["runner/none", "There is runner/claude-code, runner/codex, runner/opencode"],
    ["runner/claude-code/--dangerously", "names no model"],
    ["runner/opencode/google/gemini", "not google"],
  ])("%s says what is wrong", async (name, words) => {
    await expect(open("", { name })).rejects.toMatchObject({
      code: "model_unavailable",
      publicMessage: expect.stringContaining(words),
    });
  });

  it("refuses a program that the operator did not allow", async () => {
    const settings = { allowed: ["codex"], path: "/nowhere", isUnsandboxed: true, memoryBytesMax: 1 };
    const deps = { settings, fetch: globalThis.fetch, endpoints: {}, keyOf: async () => null };
    await expect(openRunnerModel(deps, "runner/claude-code")).rejects.toMatchObject({
      code: "model_unavailable",
      publicMessage: expect.stringContaining("EMEND_RUNNERS"),
    });
    await expect(openRunnerModel(deps, "runner/codex")).rejects.toThrow("needs the program codex");
  });

  it("says which program or key is missing", async () => {
    const settings = { allowed: runnerNames, path: "/nowhere", isUnsandboxed: true, memoryBytesMax: 1 };
    const opened = (path: string) =>
      openRunnerModel(
        { settings: { ...settings, path }, fetch: globalThis.fetch, endpoints: {}, keyOf: async () => null },
        "runner/codex",
      );
    await expect(opened("/nowhere")).rejects.toThrow("needs the program codex");
    const programs = await standInFor("");
    await expect(opened(programs.path)).rejects.toThrow("needs a key for openai");
  });
});

describe("instructions and the answer", () => {
  const task = { prompt: "Document the flag.", docsDir: "docs" } as AgentTask;
  const followUp = { ...task, followUps: [{ prompt: "Mention the default too.", afterStep: 3 }] } as AgentTask;
  const answer =
    "REPLY: Said what the default is.\nTITLE: Document the flag\nSUMMARY:\nThe page has the flag and its default.";

  it("asks for a reply only in a follow-up, with the earlier requests", () => {
    expect(instructionsFor(task)).not.toContain("REPLY:");
    const asked = instructionsFor(followUp);
    expect(asked).toContain("`REPLY: `");
    expect(asked).toContain("- Document the flag.");
    expect(asked).toContain("What is asked:\nMention the default too.");
  });

  it("reads a follow-up's reply beside the title and summary of the whole pull request", () => {
    expect(handOverOf(answer, followUp)).toEqual({
      title: "Document the flag",
      summary: "The page has the flag and its default.",
      reply: "Said what the default is.",
    });
    expect(handOverOf(answer.replace("REPLY:", "**REPLY:**"), followUp).reply).toBe("Said what the default is.");
  });

  it("a first round has no reply; a follow-up without a reply shows its title", () => {
    expect(handOverOf(answer, task)).not.toHaveProperty("reply");
    expect(handOverOf("TITLE: Say the default\nSUMMARY:\nDone.", followUp).reply).toBe("Say the default");
  });

  it("a reply or title that would load or link something is left out", () => {
    const loud = answer.replace("Said what", "![x](https://collect.example/p.png) Said what");
    expect(handOverOf(loud, followUp)).not.toHaveProperty("reply");
    const linked = answer.replace("TITLE: Document", "TITLE: https://collect.example Document");
    expect(handOverOf(linked, followUp).title).toBe("Mention the default too.");
  });
});
