import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type GitHttpServer, startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { makeRepository, type TestRepository } from "@emend/testkit/make-repository.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGit } from "../git/git.ts";
import { assertFolder } from "./resolve-base.ts";

const git = createGit({ allowedProtocols: ["http", "file"] });
const { signal } = new AbortController();
let dir: string;
let server: GitHttpServer;
let repository: TestRepository;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-folders-"));
  repository = makeRepository(join(dir, "docs.git"));
  repository.commit({ "site/docs/a.md": "# A\n", "src/b.ts": "", "readme.md": "" });
  repository.commit({ "manual/a.md": "# A\n" }, { branch: "next" });
  repository.git("config", "uploadpack.allowFilter", "true");
  makeRepository(join(dir, "empty.git"));
  server = await startGitHttpServer({ root: dir, authorize: () => true });
});
afterAll(async () => {
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

const urls = {
  http: (name: string) => `${server.url}/${name}`,
  file: (name: string) => pathToFileURL(join(dir, name)).href,
};
const look = (url: string, folder: string, baseRef: string | null = null) =>
  assertFolder(git, { remote: { url, authorization: null }, baseRef, folder }, signal);

test.each(["http", "file"] as const)("a folder that a repository by %s does not have is refused", async (by) => {
  const url = urls[by]("docs.git");
  await expect(look(url, "site/docs")).resolves.toBeUndefined();
  await expect(look(url, "manual", "next")).resolves.toBeUndefined();
  for (const folder of ["nope", "readme.md", "site/docs/a.md"]) {
    await expect(look(url, folder)).rejects.toMatchObject({
      code: "invalid_request",
      publicMessage: `The repository has no folder "${folder}" on main; folders at its top: site, src.`,
    });
  }
});

test("an empty repository, and one that is away, are let through", async () => {
  await expect(look(urls.file("empty.git"), "docs")).resolves.toBeUndefined();
  await expect(look(urls.http("gone.git"), "docs")).resolves.toBeUndefined();
});
