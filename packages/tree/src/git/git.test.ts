import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { makeRepository } from "@emend/testkit/make-repository.ts";
import { listProcesses } from "@emend/testkit/processes.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assertGitVersion, createGit, type GitCommand } from "./git.ts";

const signal = new AbortController().signal;
const git = createGit({ allowedProtocols: ["http"] });
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "emend-git-"));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** A shell command as git's child, with everything that git passes to its children. */
function shell(script: string, more: Partial<GitCommand> = {}): GitCommand {
  const args = ["-c", `alias.probe=!${script}`, "probe"];
  return { gitDir: join(dir, "none"), args, timeMsMax: 20_000, outputBytesMax: 100_000, ...more };
}

test("git gets the hardened environment and nothing of ours", async () => {
  process.env.GIT_SSH_COMMAND = "touch /tmp/never";
  process.env.EMEND_TEST_CANARY = "secret";
  try {
    const proxied = createGit({ network: { httpsProxy: "http://proxy:1", noProxy: "intern", caFile: "/ca.pem" } });
    const { stdout } = await proxied.run(shell("env"), signal);
    const lines = stdout.toString().trim().split("\n");
    const value = (name: string) => lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
    expect(value("GIT_SSH_COMMAND")).toBeUndefined();
    expect(value("EMEND_TEST_CANARY")).toBeUndefined();
    expect(value("GIT_CONFIG_NOSYSTEM")).toBe("1");
    expect(value("GIT_CONFIG_GLOBAL")).toBe("/dev/null");
    expect(value("GIT_ATTR_NOSYSTEM")).toBe("1");
    expect(value("GIT_TERMINAL_PROMPT")).toBe("0");
    expect(value("GIT_ASKPASS")).toBe("");
    expect(value("GIT_LFS_SKIP_SMUDGE")).toBe("1");
    expect(value("GIT_PROTOCOL_FROM_USER")).toBe("0");
    expect(value("GIT_NO_LAZY_FETCH")).toBe("1");
    expect(value("GIT_NO_REPLACE_OBJECTS")).toBe("1");
    expect(value("HOME")).toBe("/dev/null");
    expect(value("https_proxy")).toBe("http://proxy:1");
    expect(value("no_proxy")).toBe("intern");
    expect(value("GIT_SSL_CAINFO")).toBe("/ca.pem");
  } finally {
    delete process.env.GIT_SSH_COMMAND;
    delete process.env.EMEND_TEST_CANARY;
  }
});

test("no configuration file can take a setting back", async () => {
  const repository = makeRepository(join(dir, "hostile.git"));
  writeFileSync(
    join(repository.path, "config"),
    `[core]\n bare = true\n hooksPath = /evil\n fsmonitor = /evil\n attributesFile = /evil\n ignoreCase = true
     [protocol]\n allow = always\n[protocol "ext"]\n allow = never\n[http]\n followRedirects = true\n[transfer]\n fsckObjects = false`,
  );
  const args = ["config", "--get-regexp", "."];
  const command = { gitDir: repository.path, args, timeMsMax: 20_000, outputBytesMax: 100_000 };
  const settings = new Map<string, string>();
  for (const line of (await git.must(command, signal)).toString().split("\n")) {
    const space = line.indexOf(" ");
    settings.set(line.slice(0, space), line.slice(space + 1));
  }
  expect(Object.fromEntries(settings)).toMatchObject({
    "core.hookspath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesfile": "/dev/null",
    "core.ignorecase": "false",
    "safe.barerepository": "explicit",
    "submodule.recurse": "false",
    "transfer.fsckobjects": "true",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "protocol.http.allow": "always",
    "http.followredirects": "false",
    "gc.auto": "0",
  });
});

test("a command that exceeds its time limit is stopped with an error", async () => {
  const command = shell("sleep 600", { timeMsMax: 200 });
  await expect(git.run(command, signal)).rejects.toMatchObject({ code: "repository_unavailable", retryable: true });
});

test("an aborted command is stopped and rejects with the reason", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const command = shell("echo up; sleep 600", {
    onOutput() {
      controller.abort(reason);
      return true;
    },
  });
  await expect(git.run(command, controller.signal)).rejects.toBe(reason);
});

test("output past the cap is cut, not kept", async () => {
  const result = await git.run(shell("yes", { outputBytesMax: 5_000 }), signal);
  expect(result.cut).toBe(true);
  expect(result.stdout.length).toBe(5_000);
  await expect(git.must(shell("yes", { outputBytesMax: 5_000 }), signal)).rejects.toThrow(/more than 5000 bytes/);
});

test("an endless standard error is bounded and its end kept", async () => {
  const result = await git.run(shell("yes error | head -c 5000000 >&2; echo last words >&2; exit 7"), signal);
  expect(result.code).toBe(7);
  expect(result.stderr.length).toBeLessThan(100_000);
  expect(result.stderr).toContain("last words");
  expect(result.words.length).toBeLessThan(700);
});

test("a credential is in no argument, no message and no header to another host", async () => {
  const root = join(dir, "remotes");
  makeRepository(join(root, "docs.git")).commit({ "a.md": "a\n" });
  const seen: string[] = [];
  const server = await startGitHttpServer({
    root,
    authorize() {
      seen.push(...listProcesses().map(({ command }) => command));
      return 403;
    },
  });
  try {
    const remote = { url: `${server.url}/docs.git`, authorization: "Bearer tell-nobody" };
    const args = ["ls-remote", "--", remote.url];
    const result = await git.run(
      { gitDir: "/dev/null", args, remote, timeMsMax: 20_000, outputBytesMax: 1_000 },
      signal,
    );
    expect(server.requests[0]?.authorization).toBe("Bearer tell-nobody");
    expect(seen.some((text) => text.includes("ls-remote"))).toBe(true);
    expect(seen.filter((text) => text.includes("tell-nobody"))).toEqual([]);
    expect(result.code).toBe(128);
    expect(result.words).toContain("403");
    // Another origin in the same command must not receive it.
    const other = { ...remote, url: "http://127.0.0.1:1/docs.git" };
    server.requests.length = 0;
    await git.run({ gitDir: "/dev/null", args, remote: other, timeMsMax: 20_000, outputBytesMax: 1_000 }, signal);
    expect(server.requests[0]?.authorization).toBeNull();
  } finally {
    await server.close();
  }
});

test.each([
  ["ssh://git@example.com/a.git"],
  ["git@example.com:a.git"],
  ["ext::sh -c touch% /tmp/never"],
  ["git://example.com/a.git"],
  ["file:///etc"],
  ["--upload-pack=touch"],
  ["https://user:password@example.com/a.git"],
])("refuses the address %s before git sees it", async (url) => {
  const remote = { url, authorization: null };
  const command = { gitDir: "/dev/null", args: ["ls-remote", "--", url], remote, timeMsMax: 1_000, outputBytesMax: 10 };
  await expect(git.run(command, signal)).rejects.toMatchObject({ code: "repository_unavailable", retryable: false });
});

test("git itself refuses a transport that is not allowed", async () => {
  const args = ["ls-remote", "ext::sh -c echo% never"];
  const result = await git.run({ gitDir: "/dev/null", args, timeMsMax: 20_000, outputBytesMax: 1_000 }, signal);
  expect(result.code).toBe(128);
  expect(result.words).toContain("not allowed");
});

test("an authorization with a line break is refused", async () => {
  const remote = { url: "https://example.com/a.git", authorization: "Bearer a\r\nHost: evil" };
  const command = { gitDir: "/dev/null", args: ["ls-remote"], remote, timeMsMax: 1_000, outputBytesMax: 10 };
  await expect(git.run(command, signal)).rejects.toThrow(/line break/);
});

test("words for people hold no credential, no folder of ours and no terminal escape", async () => {
  const gitDir = join(dir, "none");
  const script = `printf '\\033[31mfatal: %s https://me:secret@host/x tell-nobody\\n' '${gitDir}/objects' >&2; exit 1`;
  const remote = { url: "https://example.com/a.git", authorization: "tell-nobody" };
  const { words } = await git.run(shell(script, { remote }), signal);
  expect(words).toBe("fatal: …/objects https://host/x …");
});

test("the installed git is new enough, an old one is refused by name", async () => {
  expect(await assertGitVersion(git, signal)).toMatch(/^2\./);
  const bin = mkdtempSync(join(dir, "bin-"));
  writeFileSync(join(bin, "git"), "#!/bin/sh\necho git version 2.37.9\n");
  chmodSync(join(bin, "git"), 0o755);
  const old = createGit({ path: bin });
  await expect(assertGitVersion(old, signal)).rejects.toThrow("git 2.37.9 is too old: install git 2.38 or newer.");
});

test("a failure on this machine is worth a retry, and only the log has git's words", async () => {
  const failed = git.must(shell("echo 'fatal: sha1 file write error. Out of diskspace' >&2; exit 128"), signal);
  await expect(failed).rejects.toMatchObject({
    retryable: true,
    publicMessage: expect.not.stringContaining("diskspace"),
    message: expect.stringContaining("Out of diskspace"),
  });
});

test("without git there is a clear error", async () => {
  const none = createGit({ path: mkdtempSync(join(dir, "empty-")) });
  await expect(assertGitVersion(none, signal)).rejects.toThrow(/git is not installed/);
});
