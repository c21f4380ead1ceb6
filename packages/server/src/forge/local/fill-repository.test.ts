import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkSite, openSite } from "@emend/site";
import { personGit } from "@emend/testkit/forge.ts";
import { startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { createGit } from "@emend/tree";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalRepository } from "./create-repository.ts";
import { fillRepository, type GivenFile } from "./fill-repository.ts";
import { repositoryOf } from "./repository.ts";
import { templateFiles, templateNames } from "./site-templates.ts";

const { signal } = new AbortController();
let dir: string;
let deps: { git: ReturnType<typeof createGit>; forgeDir: string };
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-fill-test-"));
  deps = { git: createGit({ allowedProtocols: ["http", "file"] }), forgeDir: join(dir, "forge") };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const file = (path: string, text = "text\n"): GivenFile => ({ path, content: Buffer.from(text) });
const inside = (id: string, ...args: string[]) =>
  personGit(dir, `--git-dir=${join(deps.forgeDir, `${id}.git`)}`, ...args);

async function empty(projectId: string) {
  await createLocalRepository(deps, { projectId, importFrom: null }, signal);
  return repositoryOf(deps, projectId);
}

it("commits chosen files as they are, without what docs do not have, and only into an empty repository", async () => {
  const repository = await empty("prj_files");
  const files = [file("a b/ü.md", "x\r\n"), file("node_modules/x.js"), file(".DS_Store"), file("docs/.git/config")];
  expect(await fillRepository(repository, { kind: "files", files }, signal)).toEqual({ files: 1 });
  expect(await inside("prj_files", "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "main")).toBe(
    "a b/ü.md",
  );
  expect(await inside("prj_files", "cat-file", "-s", "main:a b/ü.md")).toBe("3");
  await expect(fillRepository(repository, { kind: "files", files }, signal)).rejects.toThrow("has commits already");
});

it.each(["../a.md", "/a.md", "a//b.md", "a/./b.md", "a\\b.md", "a\nb.md", "x".repeat(1_001)])(
  "refuses the path %j, and imports nothing",
  async (path) => {
    const id = `prj_${Buffer.from(path).toString("hex").slice(0, 20)}`;
    const repository = await empty(id);
    const files = [file("a.md"), file(path)];
    await expect(fillRepository(repository, { kind: "files", files }, signal)).rejects.toThrow(
      "is not the path of a file",
    );
    expect(await inside(id, "for-each-ref")).toBe("");
  },
);

it("imports a public repository with its default branch", async () => {
  const source = await empty("prj_source");
  await fillRepository(source, { kind: "files", files: [file("index.md")] }, signal);
  await inside("prj_source", "branch", "-m", "main", "trunk");
  await inside("prj_source", "symbolic-ref", "HEAD", "refs/heads/trunk");
  const server = await startGitHttpServer({ root: deps.forgeDir });
  try {
    const remote = { url: `${server.url}/prj_source.git`, authorization: null };
    const target = await empty("prj_target");
    await fillRepository(target, { kind: "git", remote }, signal);
    expect(await inside("prj_target", "symbolic-ref", "--short", "HEAD")).toBe("trunk");
    expect(await inside("prj_target", "rev-parse", "trunk")).toBe(await inside("prj_source", "rev-parse", "trunk"));
    const gone = { url: `${server.url}/nothing.git`, authorization: null };
    const other = await empty("prj_other");
    await expect(fillRepository(other, { kind: "git", remote: gone }, signal)).rejects.toThrow("Only public");
  } finally {
    await server.close();
  }
});

it.each(templateNames)("the template $label is read as what it is, without findings", async ({ name }) => {
  const files = new Map((templateFiles(name) ?? []).map(({ path, content }) => [path, content]));
  const paths = [...files.keys()].toSorted().map((path) => ({ path }));
  const site = await openSite({ list: async () => paths, read: async (path) => files.get(path) ?? null });
  expect(site.framework).toBe(name);
  expect((await checkSite(site)).map(({ message }) => message)).toEqual([]);
});
