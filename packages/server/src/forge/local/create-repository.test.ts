import { appendFile, chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { personGit } from "@emend/testkit/forge.ts";
import { createGit } from "@emend/tree";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalRepository } from "./create-repository.ts";
import { repositoryOf, tidyRepository } from "./repository.ts";

const { signal } = new AbortController();
let dir: string;
let deps: { git: ReturnType<typeof createGit>; forgeDir: string };
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-import-test-"));
  deps = { git: createGit({ allowedProtocols: ["file"] }), forgeDir: join(dir, "forge") };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function folder(name: string): Promise<string> {
  const path = join(dir, name);
  await mkdir(path, { recursive: true });
  return path;
}

async function sourceRepository(name: string, ...initOptions: string[]): Promise<string> {
  const source = await folder(name);
  await personGit(source, "init", "--quiet", ...initOptions);
  await writeFile(join(source, "a.md"), "a\r\n");
  await personGit(source, "add", ".");
  await personGit(source, "commit", "--quiet", "--message=Start");
  return source;
}

async function importAs(projectId: string, importFrom: string | null) {
  const created = await createLocalRepository(deps, { projectId, importFrom }, signal);
  const inside = (...args: string[]) => personGit(dir, `--git-dir=${join(deps.forgeDir, `${projectId}.git`)}`, ...args);
  return { ...created, inside };
}

describe("importing a git repository", () => {
  it("brings every branch and tag, and keeps the default branch", async () => {
    const source = await sourceRepository("many", "--initial-branch=trunk");
    await personGit(source, "branch", "next");
    await personGit(source, "tag", "--annotate", "v1", "--message=One");
    await personGit(source, "pack-refs", "--all");
    await personGit(source, "branch", "loose/one");
    const { defaultBranch, inside } = await importAs("prj_many", source);
    expect(defaultBranch).toBe("trunk");
    expect(await inside("symbolic-ref", "HEAD")).toBe("refs/heads/trunk");
    expect(await inside("for-each-ref", "--format=%(refname) %(objectname)")).toBe(
      await personGit(source, "for-each-ref", "--format=%(refname) %(objectname)"),
    );
    await inside("fsck", "--strict");
  });

  it("takes bare repositories, linked work trees and other object formats", async () => {
    const source = await sourceRepository("plain", "--object-format=sha256", "--initial-branch=main");
    await personGit(source, "worktree", "add", "--quiet", "../linked", "-b", "linked");
    await personGit(dir, "clone", "--quiet", "--bare", source, "plain.git");
    const head = await personGit(source, "rev-parse", "HEAD");
    for (const [name, at] of [["linked", "linked"] as const, ["plain.git", "main"] as const]) {
      const { defaultBranch, inside } = await importAs(`prj_${at}`, join(dir, name));
      expect(defaultBranch).toBe(at);
      expect(await inside("rev-parse", "refs/heads/main")).toBe(head);
    }
  });

  it("chooses a branch where HEAD is detached, and none where there is none", async () => {
    const source = await sourceRepository("detached", "--initial-branch=master");
    await personGit(source, "checkout", "--quiet", "--detach");
    expect((await importAs("prj_detached", source)).defaultBranch).toBe("master");
    const unborn = await folder("unborn");
    await personGit(unborn, "init", "--quiet", "--initial-branch=dev");
    expect((await importAs("prj_unborn", unborn)).defaultBranch).toBe("dev");
  });

  it("runs nothing that the source's configuration names, and writes nothing there", async () => {
    const source = await sourceRepository("hostile", "--initial-branch=main");
    const trap = join(source, "trap.sh");
    await writeFile(trap, `#!/bin/sh\ntouch '${join(dir, "sprung")}'\nexit 1\n`);
    await chmod(trap, 0o755);
    // A promisor whose upload-pack is a program: git runs it in the source when an object is missing there.
    const settings: Record<string, string> = {
      "core.repositoryFormatVersion": "1",
      "extensions.partialClone": "origin",
      "remote.origin.promisor": "true",
      "remote.origin.url": source,
      "remote.origin.uploadpack": trap,
      "uploadpack.packObjectsHook": trap,
      "core.fsmonitor": trap,
      "core.sshCommand": trap,
      "core.alternateRefsCommand": trap,
      "core.hooksPath": source,
    };
    for (const [key, value] of Object.entries(settings)) await personGit(source, "config", key, value);
    const blob = await personGit(source, "rev-parse", "HEAD:a.md");
    await rm(join(source, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    const before = (await readdir(join(source, ".git"), { recursive: true })).sort();
    await expect(importAs("prj_hostile", source)).rejects.toMatchObject({ code: "repository_unavailable" });
    expect(await readdir(dir)).not.toContain("sprung");
    expect((await readdir(join(source, ".git"), { recursive: true })).sort()).toEqual(before);
    expect((await readdir(deps.forgeDir)).filter((name) => /hostile|^\.new/.test(name))).toEqual([]);
  });
});

describe("a source's configuration", () => {
  it("is not even read", async () => {
    const source = await sourceRepository("broken", "--initial-branch=main");
    const head = await personGit(source, "rev-parse", "HEAD");
    await appendFile(join(source, ".git/config"), "[this is no configuration\n");
    const { inside } = await importAs("prj_broken", source);
    expect(await inside("rev-parse", "main")).toBe(head);
  });
});

describe("importing a plain folder", () => {
  it("makes one commit of its files, less what is ignored", async () => {
    const source = await folder("docs");
    await folder("docs/node_modules/x");
    await folder("docs/guides");
    await writeFile(join(source, "node_modules/x/index.js"), "x");
    await writeFile(join(source, ".gitignore"), "*.log\n");
    await writeFile(join(source, "debug.log"), "noise");
    await writeFile(join(source, 'guides/ü "q".md'), Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a, 0xff]));
    await writeFile(join(source, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    await writeFile(Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0xe9]), Buffer.from(".md")]), "latin");
    await symlink("/etc/passwd", join(source, "link.md"));
    const { defaultBranch, inside } = await importAs("prj_docs", source);
    expect(defaultBranch).toBe("main");
    expect(
      (await inside("-c", "core.quotePath=true", "ls-tree", "-r", "--format=%(objectmode) %(path)", "main")).split(
        "\n",
      ),
    ).toEqual([
      "100644 .gitignore",
      '100644 "guides/\\303\\274 \\"q\\".md"',
      "120000 link.md",
      "100755 run.sh",
      '100644 "\\351.md"',
    ]);
    expect(await inside("rev-list", "--count", "main")).toBe("1");
    expect(await inside("show", "main:link.md")).toBe("/etc/passwd");
    expect(await inside("cat-file", "-s", 'main:guides/ü "q".md')).toBe("7");
    await inside("fsck", "--strict");
  });
});

it("imports names that a Mac's disk keeps decomposed as git stores them", async () => {
  const source = await folder("decomposed");
  await folder("decomposed/u\u0308ber");
  await writeFile(join(source, "u\u0308ber/scho\u0308n.md"), "x");
  await createLocalRepository(deps, { projectId: "prj_mac", importFrom: source, platform: "darwin" }, signal);
  const names = await personGit(join(deps.forgeDir, "prj_mac.git"), "ls-tree", "-rz", "--name-only", "main");
  expect(names).toBe("\u00fcber/sch\u00f6n.md\0");
});

describe("a repository that starts empty", () => {
  it("has a first branch to come, and takes a push of it", async () => {
    const { defaultBranch, inside } = await importAs("prj_empty", null);
    expect(defaultBranch).toBe("main");
    const source = await sourceRepository("first", "--initial-branch=main");
    await personGit(source, "push", "--quiet", join(deps.forgeDir, "prj_empty.git"), "main");
    expect(await inside("rev-parse", "HEAD")).toBe(await personGit(source, "rev-parse", "HEAD"));
  });

  it("runs no hook, wherever it came from", async () => {
    await importAs("prj_hooked", null);
    const hooks = join(deps.forgeDir, "prj_hooked.git/hooks");
    await mkdir(hooks);
    await writeFile(join(hooks, "pre-receive"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const source = await sourceRepository("pusher", "--initial-branch=main");
    await personGit(source, "push", "--quiet", join(deps.forgeDir, "prj_hooked.git"), "main");
  });

  it("is refused with its name if the folder is missing or the id is invalid", async () => {
    await expect(importAs("prj_x", join(dir, "nowhere"))).rejects.toThrow(/no folder .*nowhere/);
    await expect(importAs("../x", null)).rejects.toMatchObject({ code: "not_found" });
  });
});

it("packs what pushes left in single files, branches included", async () => {
  const { inside } = await importAs("prj_pushed", await sourceRepository("pushed"));
  const stream = Array.from({ length: 210 }, (_, n) => `blob\ndata <<E\n${n}\nE\n\n`).join("");
  const input = [stream, "commit refs/heads/emend/job_1\ncommitter n <e> 0 +0000\ndata 1\nm\n\n"];
  const repository = repositoryOf(deps, "prj_pushed");
  const command = {
    gitDir: repository.gitDir,
    args: ["fast-import", "--quiet"],
    timeMsMax: 60_000,
    outputBytesMax: 1000,
  };
  await deps.git.must({ ...command, input, config: { "fastimport.unpackLimit": "1000" } }, signal);
  const before = await inside("for-each-ref");
  expect(Number((await inside("count-objects")).split(" ")[0])).toBeGreaterThan(200);
  await tidyRepository(repository, signal);
  expect(await inside("count-objects")).toBe("0 objects, 0 kilobytes");
  expect(await readdir(join(repository.gitDir, "refs", "heads"))).toEqual([]);
  expect(await inside("for-each-ref")).toBe(before);
});

it("leaves a project alone whose repository is elsewhere", async () => {
  await tidyRepository(repositoryOf(deps, "prj_elsewhere"), signal);
});
