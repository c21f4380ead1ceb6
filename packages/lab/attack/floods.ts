import { execFile, spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createGzip } from "node:zlib";
import { assert, cloneOf, git, type Installation, latency, openSocket } from "./installation.ts";

const mebibyte = 2 ** 20;

/** Slowloris: connections that send part of a request and never the rest. Other clients must be answered meanwhile. */
export async function trySlowHeaders(host: Installation): Promise<string> {
  const head = "GET /v2/agent/x/jobs HTTP/1.1\r\nhost: x\r\n";
  const sockets = Array.from({ length: 300 }, () => openSocket(host, head, null));
  let slowest = 0;
  for (let round = 0; round < 5; round += 1) {
    for (const { socket } of sockets) if (!socket.destroyed) socket.write(`x-a${round}: b\r\n`);
    slowest = Math.max(slowest, await latency(host));
    await pause(500);
  }
  for (const { socket } of sockets) socket.destroy();
  assert(slowest < 5_000, `another caller waited for ${slowest} ms`);
  return `others were answered within ${slowest} ms`;
}

/** A compression bomb that git's own client would never send: 1 GB in 1 MB. */
export async function tryCompressedBody(host: Installation): Promise<string> {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
  const zeros = Buffer.alloc(mebibyte, "0");
  for (let count = 0; count < 1024; count += 1) {
    if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once("drain", resolve));
  }
  await new Promise<void>((resolve) => gzip.end(resolve));
  const statuses: number[] = [];
  for (const service of ["git-upload-pack", "git-receive-pack"]) {
    const answer = await fetch(`${host.url}/git/${host.projectId}.git/${service}`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`attack:${host.keys["write key"]}`).toString("base64")}`,
        "content-type": `application/x-${service}-request`,
        "content-encoding": "gzip",
      },
      body: Buffer.concat(chunks),
      signal: AbortSignal.timeout(60_000),
    });
    await answer.body?.cancel();
    statuses.push(answer.status);
  }
  return `answers: ${statuses.join(", ")}; others were answered in ${await latency(host)} ms`;
}

/** Names that git or a file system could interpret differently. None may break the repository for later pushes. */
export async function tryOddBranches(host: Installation): Promise<string> {
  const work = cloneOf(host, "odd");
  const names = [
    "refs/replace/x",
    "-x",
    "HEAD",
    "@",
    "a/../../config",
    "a\\b",
    "x.lock",
    "CON",
    "a:b",
    "--upload-pack=x",
  ];
  const taken = names.filter((name) => {
    const pushed = spawnSync("git", ["push", "--quiet", "origin", `HEAD:refs/heads/${name}`], { cwd: work });
    return pushed.status === 0;
  });
  git(work, "push", "--quiet", "origin", "HEAD:refs/heads/after-odd");
  const seen = git(work, "ls-remote", "origin");
  assert(!/\trefs\/(?!heads\/|tags\/|pull\/)/.test(seen), `refs of another kind are shown: ${seen}`);
  cloneOf(host, "odd-again");
  for (const baseRef of taken) {
    const answer = await fetch(`${host.url}/v2/agent/${host.projectId}/job`, {
      method: "POST",
      headers: { authorization: `Bearer ${host.keys["write key"]}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt: "Fix broken links.", baseRef }),
    });
    assert(answer.status < 500, `a job on the branch ${baseRef}: ${answer.status}`);
  }
  return `${taken.length} of ${names.length} are plain branches (${taken.join(", ")}), and a push and a clone work after them`;
}

/** Servers that send endlessly, in a separate process whose memory is measured. */
export async function tryAnswers(): Promise<string> {
  const program = fileURLToPath(new URL("./answer-memory.ts", import.meta.url));
  const args = ["--disable-warning=ExperimentalWarning", "--expose-gc", program];
  // Asynchronous: this process must notice when the server closes a connection.
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 120_000 });
  return stdout.trim().split("\n").join("; ");
}
