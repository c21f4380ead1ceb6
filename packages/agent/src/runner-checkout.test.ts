import { execFileSync } from "node:child_process";
import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay } from "@emend/tree";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { checkOut, collectEdits, holdsSecret } from "./runner-checkout.ts";

let trees: TestTrees;
let base: CommitTree;
let folder: string;
const signal = new AbortController().signal;
beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open({
    "index.md": "# Home\n",
    "guides/auth.md": "# Auth\n",
    "link.md": { content: "/etc/passwd", mode: "120000" },
    "lfs.png": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    ".claude/settings.json": "{}\n",
    "opencode.json": "{}\n",
    "sub/.MCP.json": "{}\n",
  });
});
afterAll(() => trees.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "emend-collect-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** The overlay after this change to the checkout. */
async function after(work: (path: (name: string) => string) => Promise<unknown>) {
  const overlay = await createOverlay(base);
  const written = await checkOut(overlay, folder, signal);
  await work((name) => join(folder, name));
  await collectEdits({ folder, written, overlay, secret: "the-key-of-the-model" }, signal);
  return overlay.entries().map(({ path, content }) => [path, content?.toString() ?? null]);
}

it("a checkout has the docs, and neither git, links nor settings that run commands", async () => {
  expect(await after(async () => {})).toEqual([]);
  expect((await readdir(folder, { recursive: true })).sort()).toEqual([
    "guides",
    "guides/auth.md",
    "index.md",
    "lfs.png",
  ]);
});

it("says which name a disk that ignores case cannot keep apart", async () => {
  await writeFile(join(folder, "index.md"), "");
  await expect(checkOut(await createOverlay(base), folder, signal)).rejects.toMatchObject({
    code: "repository_unavailable",
    publicMessage: expect.stringContaining("differ only in case or accents"),
  });
});

it("edited, added, moved and deleted files are edits; touched files are not", async () => {
  const edits = await after(async (path) => {
    await writeFile(path("index.md"), "# Start\n");
    await mkdir(path("new"));
    await rename(path("guides/auth.md"), path("new/auth.md"));
    await writeFile(path("new/empty.md"), "");
  });
  expect(edits).toEqual([
    ["guides/auth.md", null],
    ["index.md", "# Start\n"],
    ["new/auth.md", "# Auth\n"],
    ["new/empty.md", ""],
  ]);
  await rm(folder, { recursive: true });
  await mkdir(folder);
  expect(await after(async (path) => writeFile(path("index.md"), "# Home\n"))).toEqual([]);
});

it("links, pipes, sockets, git's folder, packages, settings and names that are no text are not taken", async () => {
  const edits = await after(async (path) => {
    await rm(path("index.md"));
    await symlink("/etc/passwd", path("index.md"));
    await symlink("/etc", path("etc"));
    execFileSync("mkfifo", [path("pipe")]);
    const server = createServer().listen(path("s.sock"));
    await new Promise((resolve) => server.once("listening", resolve));
    server.close();
    for (const dir of [".git/hooks", "guides/.GIT", "node_modules/x", ".claude", ".codex"]) {
      await mkdir(path(dir), { recursive: true });
      await writeFile(path(`${dir}/file`), "x");
    }
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])]), "x");
  });
  expect(edits).toEqual([["index.md", null]]);
});

it.each<[string, (path: (name: string) => string) => Promise<unknown>]>([
  [
    "a path through a link of the repository",
    async (path) => {
      await mkdir(path("link.md"));
      await writeFile(path("link.md/x"), "x");
    },
  ],
  ["a file in place of a link", (path) => writeFile(path("link.md"), "x")],
  ["a file that stands for one in Git LFS", (path) => writeFile(path("lfs.png"), "x")],
  ["a hard link", async (path) => link(path("index.md"), path("second.md"))],
  ["a file that is too large", (path) => writeFile(path("big.md"), Buffer.alloc(17 * 2 ** 20))],
  ["a name with a backslash", (path) => writeFile(path("a\\b.md"), "x")],
])("%s is refused", async (_, work) => {
  await expect(after(work)).rejects.toMatchObject({ code: "policy_denied" });
});

it("what is outside of the folder is not read through a folder's link", async () => {
  const edits = await after(async (path) => {
    await rm(path("guides"), { recursive: true });
    await symlink("/etc", path("guides"));
  });
  expect(edits).toEqual([["guides/auth.md", null]]);
  expect(await readFile("/etc/passwd", "utf8")).toContain("root");
});

it("refuses a file whose name holds the model's key, without the name", async () => {
  await expect(after((path) => writeFile(path("the-key-of-the-model!"), "# Home\n"))).rejects.toMatchObject({
    code: "policy_denied",
    publicMessage: expect.stringMatching(/^(?!.*the-key-of).*name.*it holds the model's key/),
  });
});

it("refuses a change that holds the model's key, in base64 too", async () => {
  const encoded = Buffer.from("Key: the-key-of-the-model!").toString("base64");
  await expect(after((path) => writeFile(path("index.md"), `# Home\n\n${encoded}\n`))).rejects.toMatchObject({
    code: "policy_denied",
    publicMessage: expect.stringContaining("it holds the model's key"),
  });
});

const secret = "prod-gateway-key-77aa?~very>secret";
const holds = (text: string) => holdsSecret(Buffer.from(text), secret);

it.each([
  ["as it is", `Key: ${secret}\n`],
  ["in references", secret.replaceAll("-", "&#45;")],
  ["in percent signs", encodeURIComponent(secret)],
  ["in hex", Buffer.from(secret).toString("hex").toUpperCase()],
  ...[0, 1, 2].map((lead): [string, string] => [
    `in base64, ${lead} bytes in`,
    Buffer.from(`${"ab".repeat(3).slice(0, 3 + lead)}${secret} and more`).toString("base64"),
  ]),
  ["in the other base64", Buffer.from(`x${secret}`).toString("base64url")],
  [
    "in base64 with line breaks",
    Buffer.from(secret)
      .toString("base64")
      .replaceAll(/(.{10})/g, "$1\n"),
  ],
])("finds it %s", (_how, text) => {
  expect(holds(text)).toBe(true);
});

it("finds nothing in other text, nor a secret too short to be one", () => {
  expect(holds("# Auth\n\nA gateway key opens the door.\n")).toBe(false);
  expect(holdsSecret(Buffer.from("abc"), "abc")).toBe(false);
  expect(holdsSecret(Buffer.from("anything"), "")).toBe(false);
});
