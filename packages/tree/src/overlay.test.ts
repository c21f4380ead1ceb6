import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOverlay } from "./overlay.ts";
import type { CommitTree, Overlay } from "./tree.ts";

const pointer =
  "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
let bench: MirrorBench;
let tree: CommitTree;

beforeAll(async () => {
  bench = openMirrorBench();
  ({ tree } = await bench.tree({
    "README.md": "hello\n",
    "docs/a.md": "a\n",
    "docs/b.md": "b\n",
    "docs/deep/c.md": "c\n",
    "tool.sh": { mode: "100755", content: "#!/bin/sh\n" },
    link: { mode: "120000", content: "docs" },
    "image.png": pointer,
    module: { submodule: "1".repeat(40) },
  }));
});
afterAll(() => bench.close());

const open = () => createOverlay(tree);
const bytes = (text: string) => Buffer.from(text);
async function paths(overlay: Overlay): Promise<string[]> {
  return (await overlay.list()).map((entry) => entry.path);
}

test("reads see the edits and the tree below never changes", async () => {
  const overlay = await open();
  await overlay.set("docs/a.md", bytes("changed\n"));
  await overlay.set("docs/new.md", bytes("new\n"));
  await overlay.delete("docs/b.md");
  expect((await overlay.read("docs/a.md"))?.toString()).toBe("changed\n");
  expect((await overlay.read("docs/new.md"))?.toString()).toBe("new\n");
  expect(await overlay.read("docs/b.md")).toBeNull();
  expect((await overlay.read("README.md"))?.toString()).toBe("hello\n");
  expect((await tree.read("docs/a.md"))?.toString()).toBe("a\n");
  const all = ["README.md", "docs/a.md", "docs/deep/c.md", "docs/new.md", "image.png", "link", "module", "tool.sh"];
  expect(await paths(overlay)).toEqual(all);
  const entry = (await overlay.list()).find(({ path }) => path === "docs/new.md");
  expect(entry).toEqual({
    path: "docs/new.md",
    mode: "100644",
    oid: "3e757656cf36eca53338e520d134963a44f793f8",
    size: 4,
  });
});

test("what a symbolic link points to is not deleted, nor the last file of a folder that one points to", async () => {
  const { tree: linked } = await bench.tree({
    "AGENTS.md": "x\n",
    "docs/a.md": "a\n",
    "docs/b.md": "b\n",
    "docs/deep/c.md": "c\n",
    "docs/deep/d.md": "d\n",
    "docs/latest.md": { mode: "120000", content: "a.md" },
    "site/content": { mode: "120000", content: "../docs/deep/" },
    outside: { mode: "120000", content: "/docs/b.md" },
  });
  const overlay = await createOverlay(linked);
  await expect(overlay.delete("docs/a.md")).rejects.toThrow("the symbolic link docs/latest.md points to docs/a.md");
  await overlay.delete("docs/b.md");
  await overlay.delete("docs/deep/c.md");
  await expect(overlay.delete("docs/deep/d.md")).rejects.toThrow("site/content points to docs/deep");
  await overlay.set("docs/deep/e.md", bytes("e\n"));
  await overlay.delete("docs/deep/d.md");
  expect(overlay.entries().map(({ path }) => path)).toEqual([
    "docs/b.md",
    "docs/deep/c.md",
    "docs/deep/d.md",
    "docs/deep/e.md",
  ]);
});

test("links and submodules are listed, and read as nothing", async () => {
  const overlay = await open();
  const modes = new Map((await overlay.list()).map(({ path, mode }) => [path, mode]));
  expect(modes.get("link")).toBe("120000");
  expect(modes.get("module")).toBe("160000");
  expect(await overlay.read("link")).toBeNull();
  expect(await overlay.read("module")).toBeNull();
  expect(await overlay.read("link/a.md")).toBeNull();
});

describe("the gate", () => {
  test.each([
    ["docs/a.md/x.md", "docs/a.md is a file, not a folder"],
    ["docs", "it is a folder"],
    ["docs/deep", "it is a folder"],
    ["link", "it is a symbolic link"],
    ["link/a.md", "link is a symbolic link, not a folder"],
    ["module", "it is a submodule"],
    ["module/x.md", "module is a submodule, not a folder"],
    ["image.png", "it is a Git LFS pointer"],
    ["docs/../x.md", 'it has a segment ".."'],
    [".GIT/config", "it is inside git's own folder"],
  ])("refuses to write %s", async (path, why) => {
    const overlay = await open();
    await expect(overlay.set(path, bytes("x"))).rejects.toMatchObject({
      code: "invalid_request",
      publicMessage: `${JSON.stringify(path)} cannot be written: ${why}.`,
    });
    await expect(overlay.delete(path)).rejects.toMatchObject({ code: "invalid_request" });
    expect(overlay.entries()).toEqual([]);
    expect(overlay.takeDirty()).toEqual([]);
  });

  test("counts the overlay's own files and folders", async () => {
    const overlay = await open();
    await overlay.set("new/page.md", bytes("x"));
    await expect(overlay.set("new", bytes("x"))).rejects.toThrow(/it is a folder/);
    await expect(overlay.set("new/page.md/x", bytes("x"))).rejects.toThrow(/new\/page.md is a file/);
    await overlay.delete("new/page.md");
    await overlay.set("new", bytes("a file now"));
    await expect(overlay.set("new/page.md", bytes("x"))).rejects.toThrow(/new is a file/);
  });

  test("lets a file take the place of an emptied folder, and a folder that of a deleted file", async () => {
    const overlay = await open();
    await overlay.delete("docs/deep/c.md");
    await overlay.set("docs/deep", bytes("flat\n"));
    await overlay.delete("README.md");
    await overlay.set("README.md/index.md", bytes("x"));
    expect(await paths(overlay)).toContain("docs/deep");
    expect(await paths(overlay)).toContain("README.md/index.md");
  });

  test("two writes at the same time cannot both be a file and a folder", async () => {
    const overlay = await open();
    const outcomes = await Promise.allSettled([overlay.set("x", bytes("1")), overlay.set("x/y", bytes("2"))]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("refuses to delete what is not there, once and twice", async () => {
    const overlay = await open();
    await expect(overlay.delete("nothing.md")).rejects.toThrow(/file not found/);
    await overlay.delete("docs/a.md");
    await expect(overlay.delete("docs/a.md")).rejects.toThrow(/file not found/);
  });

  test("refuses a file over the size limit", async () => {
    const overlay = await open();
    await expect(overlay.set("big.bin", Buffer.alloc(16 * 2 ** 20 + 1))).rejects.toThrow(/16 MiB/);
  });
});

test("an edited file keeps its mode, also by way of a deletion", async () => {
  const overlay = await open();
  await overlay.set("tool.sh", bytes("#!/bin/sh\necho\n"));
  await overlay.delete("tool.sh");
  await overlay.set("tool.sh", bytes("#!/bin/bash\n"));
  expect(overlay.entries()).toEqual([{ path: "tool.sh", mode: "100755", content: bytes("#!/bin/bash\n") }]);
});

test("original bytes are no edit any more, and replace the stored one", async () => {
  const overlay = await open();
  await overlay.set("docs/a.md", bytes("changed\n"));
  await overlay.set("docs/new.md", bytes("new\n"));
  await overlay.delete("docs/b.md");
  expect(overlay.takeDirty()).toEqual([
    { path: "docs/a.md", mode: "100644", content: bytes("changed\n") },
    { path: "docs/b.md", mode: "100644", content: null },
    { path: "docs/new.md", mode: "100644", content: bytes("new\n") },
  ]);
  expect(overlay.takeDirty()).toEqual([]);
  await overlay.set("docs/a.md", bytes("a\n"));
  await overlay.delete("docs/new.md");
  await overlay.set("docs/b.md", bytes("b\n"));
  expect(overlay.entries()).toEqual([]);
  const taken = overlay.takeDirty();
  expect(taken).toEqual([
    { path: "docs/a.md", mode: "100644", content: bytes("a\n") },
    { path: "docs/b.md", mode: "100644", content: bytes("b\n") },
    { path: "docs/new.md", mode: "100644", content: null },
  ]);
  const resumed = await createOverlay(tree, taken);
  expect(resumed.entries()).toEqual([]);
  expect(await resumed.list()).toEqual(await tree.list());
});

test("a resumed overlay continues from the stored one", async () => {
  const first = await open();
  await first.set("docs/new/page.md", bytes("x\n"));
  await first.delete("docs/deep/c.md");
  await first.set("tool.sh", bytes("#!/bin/dash\n"));
  const resumed = await createOverlay(tree, first.entries());
  expect(resumed.entries()).toEqual(first.entries());
  expect(resumed.takeDirty()).toEqual([]);
  expect(await resumed.list()).toEqual(await first.list());
  await expect(resumed.set("docs/new", bytes("x"))).rejects.toThrow(/it is a folder/);
  await resumed.set("docs/deep", bytes("x"));
});

test("a file name that Windows does not support is refused for new files only", async () => {
  const { tree: odd } = await bench.tree({ "a:b/why?.md": "x\n" });
  const overlay = await createOverlay(odd);
  await expect(overlay.set("what?.md", bytes("x"))).rejects.toThrow(/Windows/);
  await expect(overlay.set("a:b/nul.md", bytes("x"))).rejects.toThrow(/Windows/);
  await overlay.set("a:b/why?.md", bytes("edited\n"));
  await overlay.delete("a:b/why?.md");
  await overlay.set("a:b/why?.md", bytes("back\n"));
  await overlay.set("a:b/because.md", bytes("x\n"));
  expect(await paths(overlay)).toEqual(["a:b/because.md", "a:b/why?.md"]);
});
