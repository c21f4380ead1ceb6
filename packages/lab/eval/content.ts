import { createHash } from "node:crypto";
import { join } from "node:path";
import { createPageReader } from "@emend/review";
import { runGit } from "@emend/site";
import { judgeContent } from "../../review/src/judge-content.ts";
import { kindOf, refusedBy } from "../../review/src/policy.ts";
import type { SearchQuery, Tree, TreeEntry } from "../../tree/src/tree.ts";

/** One or more of each framework. Each is a bare clone at FOLDER/owner+name/repo. */
const repositories = [
  "asciidoctor/asciidoctor",
  "etcd-io/website",
  "facebook/docusaurus",
  "fuma-nama/fumadocs",
  "gohugoio/hugoDocs",
  "hazelcast/hz-docs",
  "honojs/website",
  "jekyll/jekyll",
  "mintlify/docs",
  "mkdocs/mkdocs",
  "pallets/flask",
  "pnpm/pnpm.io",
  "prometheus/docs",
  "rust-lang/book",
  "shuding/nextra",
  "sphinx-doc/sphinx",
  "squidfunk/mkdocs-material",
  "vuejs/docs",
  "withastro/docs",
  "withastro/starlight",
  // No rule was made with these before 2026-11-17.
  "astral-sh/uv",
  "vuejs/router",
  "vitest-dev/vitest",
  "unocss/unocss",
  "upstash/docs",
  "firecrawl/firecrawl-docs",
  "tauri-apps/tauri-docs",
  "reduxjs/redux",
  "facebook/react-native-website",
  "grpc/grpc.io",
  "snyk/user-docs",
  "rust-lang/cargo",
  "better-auth/better-auth",
  "dubinc/docs",
  "prefix-dev/pixi",
];
const commitsOfEach = 36;
/** Commits that are looked through for these. */
const commitsMax = 1_500;
const filesMax = 100;
const policy = { docsDir: "", allowedPaths: [], externalHosts: ["*"], filesMax, bytesMax: 2 ** 24 };

interface Commit {
  id: string;
  /** Frozen commits give a figure. Nobody looks at them to change the rule. */
  isFrozen: boolean;
  paths: readonly string[];
}

/**
 * How much of people's own work the rule for content refuses: the newest commits of public repositories that change
 * documents, images, navigation and configurations only. A new domain does not count, because a request can name it.
 */
export async function evaluateContent({ from, only }: { from: string; only: string }): Promise<boolean> {
  const reader = createPageReader();
  const total = { open: [0, 0], frozen: [0, 0] };
  for (const name of repositories.filter((one) => one.includes(only))) {
    const gitDir = join(from, name.replace("/", "+"), "repo");
    const commits = await contentCommits(gitDir, name);
    const row = { open: [0, 0], frozen: [0, 0] };
    for (const { id, paths, isFrozen } of commits) {
      const files = await Promise.all(
        paths.map(async (path) => {
          const content = await readBlob(gitDir, id, path);
          return { path, content, text: content?.toString() ?? null };
        }),
      );
      const judging = { base: openTree(gitDir, `${id}^`), reader, policy, asked: [] };
      const { violations } = await judgeContent(judging, files, [], AbortSignal.timeout(900_000));
      const counts = isFrozen ? [row.frozen, total.frozen] : [row.open, total.open];
      for (const count of counts) {
        count[0] = (count[0] ?? 0) + 1;
        if (violations.length > 0) count[1] = (count[1] ?? 0) + 1;
      }
      if (!isFrozen)
        for (const { path, rule } of violations) console.error(`${name} ${id.slice(0, 9)} ${path}: ${rule}`);
    }
    console.log(`${name.padEnd(28)} ${asFigure(row.open)}   frozen half ${asFigure(row.frozen)}`);
  }
  console.log(`${"together".padEnd(28)} ${asFigure(total.open)}   frozen half ${asFigure(total.frozen)}`);
  return (total.frozen[1] ?? 0) <= (total.frozen[0] ?? 0) * 0.03;
}

function asFigure([all = 0, refused = 0]: readonly number[]): string {
  return `${refused} of ${all} refused`;
}

/** The newest commits that change content only, at least one document among it. */
async function contentCommits(gitDir: string, name: string): Promise<readonly Commit[]> {
  const log = await runGit(gitDir, [
    "log",
    `-${commitsMax}`,
    "--no-merges",
    "--no-renames",
    "--name-only",
    "--format=%x01%H",
    "HEAD",
  ]);
  const commits: Commit[] = [];
  for (const block of log.split("\x01").slice(1)) {
    const [id = "", ...rest] = block.split("\n");
    const paths = rest.filter((path) => path !== "");
    const isContent = paths.every((path) => kindOf(path) !== "other" && refusedBy(policy, path) === null);
    const hasDocument = paths.some(
      (path) => kindOf(path) === "document" && !/(?:^|\/)(?:changelog|readme)/i.test(path),
    );
    if (!isContent || !hasDocument || paths.length > filesMax) continue;
    const isFrozen =
      (createHash("sha256")
        .update(`content 1 ${name.replace("/", "+")} ${id}`)
        .digest()[0] ?? 0) %
        2 ===
      1;
    commits.push({ id, isFrozen, paths });
    if (commits.length === commitsOfEach) break;
  }
  return commits;
}

async function readBlob(gitDir: string, commit: string, path: string): Promise<Buffer | null> {
  const text = await runGit(gitDir, ["cat-file", "blob", `${commit}:${path}`]).catch(() => null);
  return text === null ? null : Buffer.from(text);
}

/** As much of a tree as the judge of content reads. */
function openTree(gitDir: string, commit: string): Tree {
  let entries: Promise<readonly TreeEntry[]> | undefined;
  return {
    commit,
    list: () => (entries ??= listTree(gitDir, commit)),
    read: (path) => readBlob(gitDir, commit, path),
    async search({ pattern, ignoreCase, accepts = () => true, matchesMax }: SearchQuery) {
      const flags = ["-I", "-F", "-z", "--name-only", ...(ignoreCase ? ["-i"] : [])];
      const found = await runGit(gitDir, ["grep", ...flags, "-e", pattern, commit]).catch(() => "");
      const paths = found
        .split("\0")
        .map((one) => one.slice(commit.length + 1))
        .filter((path) => path !== "" && accepts(path));
      const matches = paths.slice(0, matchesMax).map((path) => ({ path, line: 1, column: 0, text: "" }));
      return { matches, truncated: paths.length > matchesMax };
    },
  };
}

async function listTree(gitDir: string, commit: string): Promise<readonly TreeEntry[]> {
  const listed = await runGit(gitDir, ["ls-tree", "-r", "-z", "--name-only", commit]);
  return listed
    .split("\0")
    .filter((path) => path !== "")
    .map((path) => ({ path, mode: "100644", oid: "", size: 0 }));
}
