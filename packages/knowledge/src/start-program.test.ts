import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { trySandbox } from "@emend/runners";
import { listen } from "@emend/testkit/listen.ts";
import { startBound } from "@emend/tree";
import { afterAll, afterEach, expect, it } from "vitest";
import { openKnowledgeServer } from "./knowledge-server.ts";
import { type KnowledgeProgram, startProgram } from "./start-program.ts";

const dir = mkdtempSync(join(tmpdir(), "emend-programs-"));
afterAll(() => rmSync(dir, { recursive: true }));
const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});
const signal = AbortSignal.timeout(120_000);
const deps = { start: startBound, path: process.env.PATH ?? "" };
const itInSandbox = it.skipIf((await trySandbox(deps.start, deps.path)).kind !== "usable");

async function open(program: Partial<KnowledgeProgram>, answerMsMax = 20_000) {
  const whole = { command: ["node"] as [string], folders: [dir], env: {}, ...program };
  const place = {
    kind: "program",
    start: (onFault) => startProgram(deps, whole, onFault),
  } as const satisfies Parameters<typeof openKnowledgeServer>[0]["place"];
  const server = await openKnowledgeServer({ place, answerMsMax }, signal);
  closes.push(server.close);
  return server;
}

/** A program of one tool, `try`, whose answer is what an expression gives. */
function answering(expression: string): Partial<KnowledgeProgram> {
  const file = join(dir, `${closes.length}-${Date.now()}.cjs`);
  const tool = { name: "try", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
  writeFileSync(
    file,
    `const lines = require("node:readline").createInterface({ input: process.stdin });
    lines.on("line", async (line) => {
      const { id, method, params } = JSON.parse(line);
      const send = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "initialize") return send({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } });
      if (method === "tools/list") return send({ tools: [${JSON.stringify(tool)}] });
      if (id === undefined) return;
      if (method !== "tools/call") return console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }));
      const text = await (async () => ${expression})().catch((error) => "refused: " + (error.code ?? error.cause?.code ?? error.message));
      send({ content: [{ type: "text", text: String(text) }] });
    });`,
  );
  return { command: ["node", file] };
}

const call = async (program: Partial<KnowledgeProgram>) => (await (await open(program)).call("try", {}, signal)).text;

itInSandbox("asks a published server as its authors run it (needs bubblewrap)", async () => {
  const file = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
  const packages = file.slice(0, file.indexOf("/@modelcontextprotocol/"));
  const server = await open({ command: ["node", file, "stdio"], folders: [packages] });
  expect((await server.tools(signal)).map(({ name }) => name)).toContain("echo");
  expect(await server.call("echo", { message: "hello" }, signal)).toEqual({ text: "Echo: hello", isError: false });
});

itInSandbox("gives a program its folders to read, and nothing else (needs bubblewrap)", async () => {
  writeFileSync(join(dir, "page.md"), "# Limits");
  const read = (path: string) => `require("node:fs").readFileSync(${JSON.stringify(path)}, "utf8")`;
  expect(await call(answering(read(join(dir, "page.md"))))).toBe("# Limits");
  expect(await call(answering(read(import.meta.filename)))).toBe("refused: ENOENT");
  expect(await call(answering(`require("node:fs").writeFileSync(${JSON.stringify(join(dir, "new"))}, "x")`))).toBe(
    "refused: EROFS",
  );
});

itInSandbox("gives a program no network and none of the server's variables (needs bubblewrap)", async () => {
  let asked = 0;
  const { url, stop } = await listen((_, response) => {
    asked += 1;
    response.end("reached");
  });
  closes.push(stop);
  expect(await call(answering(`fetch(${JSON.stringify(url)}).then((answer) => answer.text())`))).toMatch(/^refused/);
  expect(asked).toBe(0);
  const names = await call({ ...answering("Object.keys(process.env).toSorted().join()"), env: { MINE: "1" } });
  expect(names.split(",").filter((name) => !["OLDPWD", "PWD", "_", "SHLVL"].includes(name))).toEqual([
    "HOME",
    "LANG",
    "MINE",
    "PATH",
    "TMPDIR",
  ]);
});

itInSandbox("ends a program that takes too much memory, and says so (needs bubblewrap)", async () => {
  const hungry = `{ const kept = []; for (;;) { kept.push(Buffer.alloc(2 ** 24, 1)); await new Promise((go) => setTimeout(go, 5)); } }`;
  await expect(call(answering(`(async () => ${hungry})()`))).rejects.toThrow(/^used \d+ MiB of memory$/);
});

const flood = `{ for (;;) try { require("node:fs").writeSync(1, "x".repeat(2 ** 20)); } catch {} }`;
itInSandbox.each([
  ["sends without end", `(() => ${flood})()`, "sent more than 4 MiB"],
  ["ends", "process.exit(1)", "ended before it answered"],
])("says of a program that %s what happened (needs bubblewrap)", async (_, expression, words) => {
  await expect(call(answering(expression))).rejects.toThrow(words);
});

itInSandbox(
  "says of a program that does not answer, or is not there, what to look for (needs bubblewrap)",
  async () => {
    const silent = await open(answering("new Promise(() => {})"), 2_000);
    await expect(silent.call("try", {}, signal)).rejects.toThrow("did not answer within 2 seconds");
    await expect(open({ command: ["no-such-program"] })).rejects.toThrow(
      "needs the program no-such-program, which is not installed here",
    );
  },
);

itInSandbox("leaves no process behind (needs bubblewrap)", async () => {
  const program = answering("1");
  const file = program.command?.[1] ?? "";
  const server = await open(program);
  expect(processesWith(file)).not.toEqual([]);
  await server.close();
  closes.splice(0);
  await expect.poll(() => processesWith(file)).toEqual([]);
});

function processesWith(text: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}
