// Costly: signals end processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { expect, it } from "vitest";
import { makeDataDir, makeTempDir, removeDir } from "./support/temp-dir.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const bin = join(root, "node_modules", ".bin");
const read = (path: string) => readFile(join(root, path), "utf8");

// Every documented way to start a server, as a command line.
const unit = /^ExecStart=(.*)$/m.exec(await read("deploy/systemd/emend.service"))?.[1]?.split(" ") ?? [];
const dockerfile = await read("deploy/Dockerfile");
const [entrypoint, command] = ["ENTRYPOINT", "CMD"].map((name): string[] =>
  JSON.parse(new RegExp(`^${name} (.*)$`, "m").exec(dockerfile)?.[1] ?? "[]"),
);
const container = [...(entrypoint ?? []), ...(command ?? [])].map((part) =>
  part.replace("/opt/emend", join(root, "packages/cli")),
);

const stops: readonly { start: string; line: string[]; stop: "SIGTERM" | "Ctrl-C" }[] = [
  { start: "npm start", line: ["npm", "start", "--"], stop: "SIGTERM" },
  { start: "npm start", line: ["npm", "start", "--"], stop: "Ctrl-C" },
  { start: "npx emend serve", line: ["npx", "emend", "serve"], stop: "SIGTERM" },
  { start: "npx emend serve", line: ["npx", "emend", "serve"], stop: "Ctrl-C" },
  { start: "emend serve", line: [join(bin, "emend"), "serve"], stop: "SIGTERM" },
  { start: "emend serve", line: [join(bin, "emend"), "serve"], stop: "Ctrl-C" },
  { start: "the systemd unit", line: unit, stop: "SIGTERM" },
  { start: "the container", line: container, stop: "SIGTERM" },
];
it.each(stops)("$start stops its server on $stop", async ({ line: [program = "", ...args], stop }) => {
  const dir = await makeTempDir();
  const database = await createTestDatabase();
  const child = spawn(program, [...args, "--data", await makeDataDir(join(dir, "data")), "--port", "0"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
    // Its own process group, as a terminal gives to each command.
    detached: true,
    env: { ...environment(), EMEND_DATABASE_URL: database.url, EMEND_SECRET: "x".repeat(32) },
  });
  try {
    // The output ends when the last process that has it open exits: an orphan would keep it open.
    const closed = once(child, "close");
    const url = await readyUrl(child.stdout);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    if (stop === "SIGTERM") child.kill(stop);
    else process.kill(-Number(child.pid), "SIGINT");
    await closed;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  } finally {
    killGroup(Number(child.pid));
    await database.drop();
    await removeDir(dir);
  }
});

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // No process of the group is left.
  }
}

/** A person's environment, without the variables that npm adds for this test run. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|EMEND_)/.test(name));
  return { ...Object.fromEntries(own), PATH: [bin, process.env.PATH].join(delimiter) };
}

async function readyUrl(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    if (line.startsWith('{"event":"ready"')) {
      output.resume();
      return (JSON.parse(line) as { url: string }).url;
    }
  }
  throw new Error("the server ended before it was ready");
}
