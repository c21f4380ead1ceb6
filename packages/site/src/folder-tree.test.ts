import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { generateSite } from "../bench/generate.ts";
import { memoryTree } from "../test/support/memory-tree.ts";
import { createParseCache } from "./cache/disk-cache.ts";
import { checkSite } from "./check-site.ts";
import { folderTree, nameAsGit } from "./folder-tree.ts";
import { openSite } from "./open-site.ts";

it("judges links of a folder as the host of the repository around it does", async () => {
  const dir = await mkdtemp(join(tmpdir(), "emend-folder-"));
  const links = ["/logo.png", "/docs/logo.png", "/README.md", "../README.md", "../gone.md", "../../../issues"];
  const settings = '{"checks": {"host-link": "warning"}}';
  try {
    for (const path of [".git", "docs/.emend"]) await mkdir(join(dir, path), { recursive: true });
    for (const path of ["README.md", "docs/logo.png"]) await writeFile(join(dir, path), "");
    await writeFile(join(dir, "docs/.emend/check.json"), settings);
    await writeFile(join(dir, "docs/a.md"), `# A\n\n${links.map((link) => `[x](${link})\n`).join("")}`);
    const findings = await checkSite(await openSite(folderTree(join(dir, "docs"))));
    const found = findings.flatMap(({ check, line }) => (check === "host-link" ? [links[line - 3]] : []));
    expect(found).toEqual(["/logo.png", "../gone.md"]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

it("names a file as git does: composed on a Mac, as it is elsewhere", () => {
  const decomposed = "u\u0308ber.md";
  expect(nameAsGit(decomposed, "darwin")).toBe("\u00fcber.md");
  expect(nameAsGit(decomposed, "linux")).toBe(decomposed);
});

describe("a folder of many pages", () => {
  // Enough files that threads are used.
  const files: Record<string, string> = { "broken.mdx": "[x](/nowhere) and [é](#none)\n\n### Deep\n" };
  for (const { path, content } of generateSite(200)) files[path] = content;
  let dir = "";
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "emend-folder-"));
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), content);
    }
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("is read by threads with the findings of any other tree, and follows no link", async () => {
    await symlink("/etc/hosts", join(dir, "hosts.mdx"));
    const findings = await checkSite(await openSite(folderTree(dir)));
    expect(findings).toEqual(await checkSite(await openSite(memoryTree(files))));
    expect(findings.map(({ check }) => check)).toContain("broken-link");
  });

  it("takes known pages from the cache and notices changed ones", async () => {
    const stored = new Map<string, string>();
    await openSite(folderTree(dir), { cache: stored });
    const size = stored.size;
    await writeFile(join(dir, "broken.mdx"), "[y](/elsewhere)\n");
    const seen = createParseCache();
    for (const [key, record] of stored) seen.set(key, record);
    const set: string[] = [];
    const cache = {
      get: seen.get,
      keys: seen.keys,
      set(key: string, record: string) {
        set.push(key);
        return seen.set(key, record);
      },
    };
    const findings = await checkSite(await openSite(folderTree(dir), { cache }));
    expect(findings.filter(({ check }) => check === "broken-link")).toMatchObject([
      { path: "broken.mdx", message: "`/elsewhere` links to a missing page; correct or remove the link." },
    ]);
    expect([size, set.length]).toEqual([201, 1]);
  });

  it("leaves out what is gone by the time it is read", async () => {
    const tree = folderTree(dir);
    const site = await openSite({ ...tree, list: async () => [...(await tree.list()), { path: "ghost.mdx" }] });
    expect(site.index.nodes.has("ghost.mdx")).toBe(false);
    expect(site.pages).toHaveLength(201);
  });
});
