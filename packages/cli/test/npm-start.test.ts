import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

it("npm start passes a stop on to the server, and ends with it", { timeout: 120_000 }, async () => {
  const data = await mkdtemp(join(tmpdir(), "emend-npm-start-"));
  await chmod(data, 0o711);
  const npm = spawn("npm", ["start", "--", "--data", data, "--port", "0"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    // The output ends when the last process that holds it is gone: an orphan would keep it open.
    const closed = once(npm, "close");
    const url = await readyUrl(npm.stdout);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    npm.kill("SIGTERM");
    await closed;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  } finally {
    npm.kill("SIGKILL");
    await rm(data, { recursive: true, force: true });
  }
});

async function readyUrl(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    if (line.startsWith('{"event":"ready"')) {
      output.resume();
      return (JSON.parse(line) as { url: string }).url;
    }
  }
  throw new Error("the server ended before it was ready");
}
