import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOverlay } from "./overlay.ts";

let bench: MirrorBench;
let signal: AbortSignal;
let canary: string;
let script: string;

beforeAll(() => {
  bench = openMirrorBench();
  signal = bench.signal;
  canary = join(bench.dir, "canary");
  script = join(bench.dir, "evil.sh");
  writeFileSync(script, `#!/bin/sh\necho "$0 $@" >> ${canary}\n`, { mode: 0o755 });
});
afterAll(() => bench.close());

const author = { name: "n", email: "e" };
const fetchFrom = async (url: string, projectId: string) =>
  (await bench.mirrors.open(projectId)).fetchBase(
    { remote: { url, authorization: null }, jobId: "job_1", baseRef: null },
    signal,
  );

/** Every setting and hook that makes git run a program. */
function poison(gitDir: string): void {
  const settings = `
    [core]
      hooksPath = ${join(gitDir, "hooks")}
      fsmonitor = ${script}
      pager = ${script}
      editor = ${script}
      askPass = ${script}
      sshCommand = ${script}
      gitProxy = ${script}
      alternateRefsCommand = ${script}
      attributesFile = ${join(gitDir, "attributes")}
    [credential]
      helper = ${script}
    [diff]
      external = ${script}
    [diff "evil"]
      command = ${script}
      textconv = ${script}
    [filter "evil"]
      clean = ${script}
      smudge = ${script}
      process = ${script}
      required = true
    [merge "evil"]
      driver = ${script}
    [uploadpack]
      packObjectsHook = ${script}
    [gpg]
      program = ${script}
    [gc]
      auto = 1
      recentObjectsHook = ${script}
    [protocol]
      allow = always
    [remote "origin"]
      url = ext::${script}
      vcs = ext`;
  appendFileSync(join(gitDir, "config"), `${settings}\n`);
  writeFileSync(join(gitDir, "attributes"), "* filter=evil diff=evil merge=evil\n");
  mkdirSync(join(gitDir, "info"), { recursive: true });
  writeFileSync(join(gitDir, "info", "attributes"), "* filter=evil diff=evil merge=evil\n");
  mkdirSync(join(gitDir, "hooks"), { recursive: true });
  const hooks = ["reference-transaction", "post-checkout", "pre-push", "pre-auto-gc", "post-update", "post-merge"];
  for (const hook of hooks) writeFileSync(join(gitDir, "hooks", hook), readFileSync(script), { mode: 0o755 });
}

test("a poisoned repository behind a poisoned mirror runs nothing in the whole life of a job", async () => {
  const { repository, mirror, gitDir } = await bench.tree({ "old.md": "x\n" });
  const commit = repository.commit({
    ".gitattributes": "* filter=evil diff=evil merge=evil\n*.md working-tree-encoding=UTF-16 text eol=crlf ident\n",
    ".gitmodules": '[submodule "m"]\n\tpath = m\n\turl = https://example.com/m.git\n',
    ".lfsconfig": "[lfs]\n\turl = https://example.com/lfs\n",
    "a.md": "one $Id$\n",
    m: { submodule: "1".repeat(40) },
  });
  // What a forge runs after a push is out of scope, so that part uses a clean copy.
  cpSync(repository.path, join(bench.dir, "remotes", "unpoisoned.git"), { recursive: true });
  poison(repository.path);
  poison(gitDir);
  const server = await startGitHttpServer({
    root: join(bench.dir, "remotes"),
    authorize: (request) => request.headers.authorization === "Basic eA==" || 401,
  });
  try {
    const anonymous = { url: `${server.url}/unpoisoned.git`, authorization: null };
    const refused = mirror.fetchBase({ remote: anonymous, jobId: "job_1", baseRef: null }, signal);
    await expect(refused).rejects.toMatchObject({ code: "repository_unavailable" });

    const remote = { url: repository.url, authorization: null };
    expect((await mirror.fetchBase({ remote, jobId: "job_1", baseRef: null }, signal)).commit).toBe(commit);
    const tree = mirror.treeAt(commit);
    expect((await tree.read("a.md"))?.toString()).toBe("one $Id$\n");
    const overlay = await createOverlay(tree);
    await overlay.set("a.md", Buffer.from("two $Id$\n"));
    await overlay.search({ pattern: "two", kind: "literal", matchesMax: 5 });
    const input = { jobId: "job_1", base: commit, entries: overlay.entries(), message: "m", author, date: new Date(0) };
    const { commitId } = await mirror.commit(input, signal);
    const { patch } = await mirror.diff({ from: commit, to: commitId }, signal);
    expect(patch.toString()).toContain("-one $Id$\n+two $Id$\n");
    await mirror.ensureBase({ remote, jobId: "job_1", commit }, signal);
    await bench.openMirrors({ packsMax: 0 }).maintain(signal);
    const unknown = await mirror.push(
      { remote: anonymous, branch: "emend/x", commit: commitId, expected: null },
      signal,
    );
    expect(unknown.kind).toBe("rejected");
    const authorized = { ...anonymous, authorization: "Basic eA==" };
    const pushed = await mirror.push(
      { remote: authorized, branch: "emend/x", commit: commitId, expected: null },
      signal,
    );
    expect(pushed).toEqual({ kind: "pushed" });
    await mirror.release("job_1");
    expect(existsSync(canary) ? readFileSync(canary, "utf8") : "").toBe("");
  } finally {
    await server.close();
  }
});

test.each([".git", ".GIT", ".gi\u200ct", "git~1", ".."])("a tree with an entry %j is not taken in", async (name) => {
  const repository = bench.repository(`evil-${Buffer.from(name).toString("hex")}`);
  repository.commit({ [`docs/${name}/config`]: "[core]\n" });
  const projectId = `prj_${Buffer.from(name).toString("hex")}`;
  await expect(fetchFrom(repository.url, projectId)).rejects.toMatchObject({
    code: "repository_unavailable",
    retryable: false,
    publicMessage: expect.stringContaining("damaged or hostile"),
  });
});

test("a submodule whose address is an option is not taken in", async () => {
  const repository = bench.repository("evil-submodule");
  repository.commit({ ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n' });
  await expect(fetchFrom(repository.url, "prj_submodule")).rejects.toMatchObject({ retryable: false });
});

test("a server of the old kind, which could send git elsewhere for objects, is refused", async () => {
  const repository = bench.repository("dumb");
  repository.commit({ "a.md": "a\n" });
  repository.git("update-server-info");
  let elsewhereAsked = 0;
  const elsewhere = createServer((_, response) => {
    elsewhereAsked += 1;
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const alternate = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/objects/`;
  writeFileSync(join(repository.path, "objects/info/http-alternates"), `${alternate}\n`);
  const plain = await startGitHttpServer({
    root: "/",
    authorize: (request) => (response) => {
      const path = join(bench.dir, "remotes", new URL(request.url ?? "", "http://x").pathname);
      if (existsSync(path) && statSync(path).isFile()) response.end(readFileSync(path));
      else response.writeHead(404).end();
    },
  });
  try {
    await expect(fetchFrom(`${plain.url}/dumb.git`, "prj_dumb")).rejects.toMatchObject({
      code: "repository_unavailable",
    });
    expect(elsewhereAsked).toBe(0);
  } finally {
    await plain.close();
    elsewhere.closeAllConnections();
    await new Promise((resolve) => elsewhere.close(resolve));
  }
});

test("a mirror holds objects and refs, and no hook, alternate or remote", async () => {
  const { gitDir } = await bench.tree({ "a.md": "a\n" });
  const names = readdirSync(gitDir, { recursive: true }).map(String);
  expect(names.filter((name) => /hooks|alternates|FETCH_HEAD|logs|index$/.test(name))).toEqual([]);
  expect(readFileSync(join(gitDir, "config"), "utf8")).not.toMatch(/remote|extraheader|url/i);
});

describe("sizes", () => {
  test("50,000 files are listed, in git's order", async () => {
    const names = Array.from({ length: 50_000 }, (_, file) => `docs/${file % 100}/page-${file}.md`);
    const { tree } = await bench.tree(Object.fromEntries(names.map((name) => [name, "same\n"])));
    const list = await tree.list();
    expect(list).toHaveLength(50_000);
    const paths = list.map(({ path }) => path);
    expect(paths).toEqual(names.toSorted());
    const overlay = await createOverlay(tree);
    await overlay.set("docs/0/page-00.md", Buffer.from("new\n"));
    expect(await overlay.list()).toHaveLength(50_001);
  });

  test("more files than the limit are refused in words", async () => {
    const own = openMirrorBench({ filesMax: 100 });
    try {
      const { tree } = await own.tree(Object.fromEntries(Array.from({ length: 100 }, (_, file) => [`${file}`, ""])));
      expect(await tree.list()).toHaveLength(100);
      const names = Array.from({ length: 101 }, (_, file) => [`${file}`, ""]);
      await expect(own.tree(Object.fromEntries(names))).rejects.toMatchObject({
        code: "repository_unavailable",
        publicMessage: "The repository has more than 100 files.",
      });
    } finally {
      await own.close();
    }
  });

  test("a file of 40 MB of zeros is listed, carried along and neither read nor searched", async () => {
    const own = openMirrorBench({ fileBytesMax: 2 ** 20 });
    try {
      const { tree, overlay, mirror, commit } = await own.tree({
        "zeros.bin": Buffer.alloc(40_000_000),
        "long.md": `needle\n${"0".repeat(2 ** 20)}\n`,
        "a.md": "needle\n",
      });
      await expect(tree.read("zeros.bin")).rejects.toMatchObject({
        code: "invalid_request",
        publicMessage: "zeros.bin has 38.1 MiB; files over 1.0 MiB are not read.",
      });
      const found = await tree.search({ pattern: "needle", kind: "literal", matchesMax: 5 });
      expect(found.matches.map(({ path }) => path)).toEqual(["a.md"]);
      await overlay.set("a.md", Buffer.from("b\n"));
      const input = {
        jobId: "job_1",
        base: commit,
        entries: overlay.entries(),
        message: "m",
        author,
        date: new Date(0),
      };
      const { commitId } = await mirror.commit(input, signal);
      const ids = async (id: string) => (await mirror.treeAt(id).index()).entries.get("zeros.bin")?.oid;
      expect(await ids(commitId)).toBe(await ids(commit));
    } finally {
      await own.close();
    }
  });

  test("a repository over the size limit is given up while it arrives", async () => {
    const own = openMirrorBench({ packBytesMax: 100_000 });
    try {
      const noise = Buffer.from(Array.from({ length: 300_000 }, () => Math.floor(Math.random() * 256)));
      await expect(own.tree({ "noise.bin": noise })).rejects.toMatchObject({
        code: "repository_unavailable",
        retryable: false,
        publicMessage: expect.stringContaining("too large"),
      });
    } finally {
      await own.close();
    }
  });
});
