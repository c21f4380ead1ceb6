import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { personGit, startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import { listProcesses } from "@emend/testkit/processes.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getPullRequest } from "./pull-requests.ts";

let host: TestForge;
let work: string;
beforeAll(async () => {
  host = await startTestForge({ basePath: "/base" });
  await host.addProject("prj_a");
  await host.addProject("prj_b");
  work = join(host.dir, "work");
  await mkdir(work);
  await personGit(work, "init", "--quiet", "--initial-branch=main");
  // Incompressible, past the size from which git sends a push in chunks, and more than a socket's buffers ever hold.
  await writeFile(join(work, "large.bin"), randomBytes(16_000_000));
  await commit("first");
});
afterAll(() => host.close());

async function commit(name: string): Promise<string> {
  await writeFile(join(work, `${name}.md`), `${name}\n`);
  await personGit(work, "add", ".");
  await personGit(work, "commit", "--quiet", `--message=${name}`);
  return personGit(work, "rev-parse", "HEAD");
}

/** As a person types it: the key is the password. */
function remote(project: string, scope: "read" | "write", of = project): string {
  const url = new URL(`${host.url}/git/${project}.git`);
  url.username = "anyone";
  url.password = host.keyOf(of, scope);
  return url.href;
}

describe("git over HTTP", () => {
  it("takes a push with a write key and gives a clone with a read key", async () => {
    await personGit(work, "push", "--quiet", remote("prj_a", "write"), "main");
    await personGit(host.dir, "clone", "--quiet", remote("prj_a", "read"), "read");
    expect(await personGit(join(host.dir, "read"), "rev-parse", "HEAD")).toBe(
      await personGit(work, "rev-parse", "HEAD"),
    );
    const [sent, got] = await Promise.all(
      [join(work, "large.bin"), join(host.dir, "read/large.bin")].map((path) => readFile(path)),
    );
    expect(sent?.equals(got ?? Buffer.alloc(0))).toBe(true);
  });

  it("speaks the first protocol and the second, and takes a bearer key", async () => {
    const header = `http.extraHeader=Authorization: Bearer ${host.keyOf("prj_a", "read")}`;
    const url = `${host.url}/git/prj_a.git`;
    for (const version of ["0", "2"]) {
      const heads = await personGit(
        work,
        "-c",
        header,
        "-c",
        `protocol.version=${version}`,
        "ls-remote",
        "--heads",
        url,
      );
      expect(heads).toContain("refs/heads/main");
    }
  });

  it("gives a commit by its id although its branch has moved back", async () => {
    const lost = await commit("lost");
    await personGit(work, "push", "--quiet", remote("prj_a", "write"), "main:moved");
    await personGit(join(host.forgeDir, "prj_a.git"), "update-ref", "refs/heads/moved", "refs/heads/moved~1");
    // Protocol version 2 serves any object. Version 1 needs a setting.
    const first = ["-c", "protocol.version=0"];
    await personGit(join(host.dir, "read"), ...first, "fetch", "--quiet", remote("prj_a", "read"), lost);
    expect(await personGit(join(host.dir, "read"), "cat-file", "-t", lost)).toBe("commit");
  });

  it("refuses a forced push, however it is written, beside a tag of the branch's name too", async () => {
    const url = remote("prj_b", "write");
    await personGit(work, "push", "--quiet", url, "main", "main:topic", "main:refs/tags/main");
    const head = await personGit(work, "rev-parse", "main");
    await expect(personGit(work, "push", "--force", url, "main~1:topic")).rejects.toThrow(/rejected/);
    const back = "main~1:refs/heads/main";
    for (const refs of [[back], [back, "main:topic"], ["main:topic", back], [":refs/heads/main"]]) {
      await expect(personGit(work, "push", "--force", url, ...refs), refs.join(" ")).rejects.toThrow(/rejected/);
      expect(await personGit(work, "ls-remote", url, "refs/heads/main")).toContain(head);
    }
    // A client of its own making: compressed, so that the commands cannot be read in passing.
    const commands = `${head} ${await personGit(work, "rev-parse", "main~1")} refs/heads/main\0report-status`;
    const pack = Buffer.concat([
      Buffer.from(`${(commands.length + 4).toString(16).padStart(4, "0")}${commands}0000`),
      Buffer.from("5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e", "hex"),
    ]);
    for (const [body, encoding] of [
      [pack, {}],
      [gzipSync(pack), { "content-encoding": "gzip" }],
    ] as const) {
      const response = await fetch(`${host.url}/git/prj_b.git/git-receive-pack`, {
        method: "POST",
        body,
        headers: {
          authorization: `Bearer ${host.keyOf("prj_b", "write")}`,
          "content-type": "application/x-git-receive-pack-request",
          ...encoding,
        },
      });
      expect(await response.text()).toContain("ng refs/heads/main non-fast-forward");
    }
  });

  it("ends a request whose commands are cut off, so that it holds no slot", async () => {
    for (const body of ["ffff", "0", "zzzz", ""]) {
      const response = await fetch(`${host.url}/git/prj_b.git/git-receive-pack`, {
        method: "POST",
        body,
        headers: {
          authorization: `Bearer ${host.keyOf("prj_b", "write")}`,
          "content-type": "application/x-git-receive-pack-request",
        },
        signal: AbortSignal.timeout(20_000),
      });
      await response.text();
    }
  });

  it("has no branch and no tag with the name HEAD", async () => {
    for (const ref of ["refs/heads/HEAD", "refs/tags/HEAD", "refs/heads/HEAD/x"]) {
      await expect(personGit(work, "push", remote("prj_a", "write"), `main:${ref}`), ref).rejects.toThrow(/hidden ref/);
    }
  });

  it("refuses a push with a read key, and any push to pull request refs", async () => {
    await expect(personGit(work, "push", remote("prj_a", "read"), "main:refused")).rejects.toThrow(/403/);
    await expect(personGit(work, "push", remote("prj_a", "write"), "main:refs/pull/1/head")).rejects.toThrow(
      /hidden ref/,
    );
  });

  it("takes and shows branches and tags alone, and replaces no object", async () => {
    const url = remote("prj_a", "write");
    const head = await personGit(work, "rev-parse", "HEAD");
    for (const ref of [
      `refs/replace/${head}`,
      "refs/notes/commits",
      "refs/emend/base/x",
      "refs/remotes/a/b",
      "refs/x",
    ]) {
      await expect(personGit(work, "push", url, `main:${ref}`), ref).rejects.toThrow(/hidden ref/);
    }
    await personGit(work, "push", "--quiet", url, "main:refs/heads/shown", "main:refs/tags/v1");

    // A replacement ref that an earlier version accepted: one page is read instead of another.
    const folder = join(host.dir, "replaced");
    await personGit(host.dir, "clone", "--quiet", url, folder);
    const shown = await personGit(folder, "rev-parse", "HEAD:first.md");
    await writeFile(join(folder, "other.md"), "another file\n");
    const other = await personGit(folder, "hash-object", "-w", "other.md");
    const { git, forgeDir, signal } = host;
    const gitDir = join(forgeDir, "prj_a.git");
    const input = ["another file\n"];
    const base = { gitDir, timeMsMax: 10_000, outputBytesMax: 10_000 };
    await git.must({ ...base, args: ["hash-object", "-w", "--stdin"], input }, signal);
    await git.must({ ...base, args: ["update-ref", `refs/replace/${shown}`, other] }, signal);
    // With the repository's setting and without it, as in a mirror.
    const config = await readFile(join(gitDir, "config"), "utf8");
    for (const text of [config, config.replace("useReplaceRefs = false", "")]) {
      await writeFile(join(gitDir, "config"), text);
      expect((await git.must({ ...base, args: ["cat-file", "blob", shown] }, signal)).toString()).toBe("first\n");
    }
    await writeFile(join(gitDir, "config"), config);
    expect(await personGit(work, "ls-remote", url)).not.toMatch(/refs\/(replace|notes|emend)/);
    await commit("after a replacement");
    await personGit(work, "push", "--quiet", url, "main:refs/heads/after");
  });

  it("asks for a key, and shows a foreign, an unknown and a malformed repository alike", async () => {
    const anonymous = await fetch(`${host.url}/git/prj_a.git/info/refs?service=git-upload-pack`);
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get("www-authenticate")).toMatch(/^Basic /);
    const answers = [];
    for (const repository of ["prj_b.git", "prj_none.git", "prj_a", "..%2fprj_b.git", "%00.git"]) {
      const response = await fetch(`${host.url}/git/${repository}/info/refs?service=git-upload-pack`, {
        headers: { authorization: `Bearer ${host.keyOf("prj_a", "write")}` },
      });
      answers.push(`${response.status} ${await response.text()}`);
    }
    expect(new Set(answers)).toEqual(new Set(["404 repository not found\n"]));
  });

  it("serves nothing but the smart protocol", async () => {
    const headers = { authorization: `Bearer ${host.keyOf("prj_a", "write")}` };
    for (const path of ["HEAD", "config", "objects/info/packs"]) {
      expect((await fetch(`${host.url}/git/prj_a.git/${path}`, { headers })).status).toBe(404);
    }
    expect((await fetch(`${host.url}/git/prj_a.git/info/refs`, { headers })).status).toBe(403);
  });

  it("reads a gzipped request", async () => {
    const body = gzipSync("0014command=ls-refs\n00010009peel\n0000");
    const response = await fetch(`${host.url}/git/prj_a.git/git-upload-pack`, {
      method: "POST",
      body,
      headers: {
        authorization: `Bearer ${host.keyOf("prj_a", "read")}`,
        "content-type": "application/x-git-upload-pack-request",
        "content-encoding": "gzip",
        "git-protocol": "version=2",
      },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("refs/heads/main");
  });

  it("stops git when the client leaves in the middle of its request", async () => {
    const command = packet(`${"0".repeat(40)} ${"1".repeat(40)} refs/heads/slow`);
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    const slow = (text: string) => sendRaw("git-receive-pack", "Transfer-Encoding: chunked", chunk(text));
    // Half of them in the middle of a command, before git is started.
    const sockets = ["00ff", `${command}0000PACK`].flatMap((text) => Array.from({ length: 4 }, () => slow(text)));
    await until(async () => backends().length >= 4);
    // One key cannot occupy every slot: it gets a Retry-After, and other keys continue.
    const refs = async (project: string) => {
      const headers = { authorization: `Bearer ${host.keyOf(project, "write")}` };
      return (await fetch(`${host.url}/git/${project}.git/info/refs?service=git-upload-pack`, { headers })).status;
    };
    await until(async () => (await refs("prj_a")) === 503);
    expect(await refs("prj_b")).toBe(200);
    for (const socket of sockets) socket.destroy();
    await until(async () => backends().length === 0);
    await until(async () => (await refs("prj_a")) === 200);
  });

  it("stops git when the client leaves in the middle of the answer", async () => {
    const commit = await personGit(work, "rev-parse", "main~1");
    const body = `0012command=fetch\n0001${packet(`want ${commit}`)}${packet("done")}0000`;
    const socket = sendRaw("git-upload-pack", `Git-Protocol: version=2\r\nContent-Length: ${body.length}`, body);
    // A client that stops reading: git blocks on its own output (backpressure).
    await once(socket, "data");
    socket.pause();
    expect(backends()).not.toEqual([]);
    socket.destroy();
    await until(async () => backends().length === 0);
  });
});

/** A misbehaving client. */
function sendRaw(service: string, headers: string, body: string): Socket {
  const { port, pathname } = new URL(host.url);
  const socket = connect({ port: Number(port), host: "127.0.0.1" });
  socket.write(
    `POST ${pathname}/git/prj_a.git/${service} HTTP/1.1\r\nHost: x\r\n${headers}\r\n` +
      `Authorization: Bearer ${host.keyOf("prj_a", "write")}\r\nContent-Type: application/x-${service}-request\r\n\r\n${body}`,
  );
  return socket;
}

function packet(line: string): string {
  return `${(line.length + 5).toString(16).padStart(4, "0")}${line}\n`;
}

describe("after a push", () => {
  it("sees a pull request merged by hand, and keeps what it showed", async () => {
    await personGit(work, "switch", "--quiet", "--create", "topic");
    const head = await commit("topic");
    await personGit(work, "push", "--quiet", remote("prj_a", "write"), "topic");
    const draft = { head: "topic", base: "main", title: "T", body: "", draft: false, checks: [] };
    await host.open("prj_a").createPullRequest(draft, host.signal);
    await personGit(work, "push", "--quiet", remote("prj_a", "write"), "topic:main", ":topic");
    await until(async () => (await getPullRequest(host.database.pool, "prj_a", 1))?.state === "merged");
    expect(await getPullRequest(host.database.pool, "prj_a", 1)).toMatchObject({ headCommit: head });
    expect(await personGit(work, "ls-remote", remote("prj_a", "read"), "refs/pull/1/head")).toContain(head);
  });
});

/** The git http-backend processes that this process's starter started. */
function backends(): number[] {
  const all = listProcesses();
  const children = new Set(all.flatMap(({ pid, parent }) => (parent === process.pid ? [pid] : [])));
  const isOurs = (parent: number, command: string) => children.has(parent) && command.includes("http-backend");
  return all.flatMap(({ pid, parent, command }) => (isOurs(parent, command) ? [pid] : []));
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
