import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createPageReader } from "@emend/review";
import { runGit } from "@emend/site";
import { covers, judgeContent } from "../../review/src/judge-content.ts";
import { kindOf, refusedBy } from "../../review/src/policy.ts";
import type { SearchQuery, Tree, TreeEntry } from "../../tree/src/tree.ts";

/** Commits of one repository, and how many are looked through for these. */
const commitsOfEach = 20;
const commitsMax = 1_500;
const filesMax = 100;
/** A project's first questions, all answered "allow here from now on". */
const questionsMax = 10;
const policy = { docsDir: "", allowedPaths: [], filesMax, bytesMax: 2 ** 24 };
const answers = ["forbidden", "asked", "asked later", "published"] as const;
type Answer = (typeof answers)[number];
type Counts = Record<Answer, number>;

/**
 * What becomes of people's own work: the newest commits of public repositories that change documents, images, navigation
 * and configurations only. Every clone in the folder is tried: `owner+name/repo`, `owner+name/.git` or a bare one. Half of
 * the repositories are frozen: they give a figure, and nobody looks at their commits to change the rule.
 */
export async function evaluateContent({ from, only }: { from: string; only: string }): Promise<boolean> {
  const total = { open: empty(), frozen: empty() };
  for (const name of readdirSync(from).sort()) {
    const gitDir = [join(from, name, "repo"), join(from, name, ".git"), join(from, name)].find((one) =>
      existsSync(join(one, "objects")),
    );
    const half = (createHash("sha256").update(`emend 58 ${name}`).digest()[0] ?? 0) % 2 === 1 ? "frozen" : "open";
    if (gitDir === undefined || !(name.includes(only) || only === half)) continue;
    const counts = await judgeRepository(gitDir, half === "open" ? name : null);
    for (const answer of answers) total[half][answer] += counts[answer];
    console.log(`${name.padEnd(36)} ${half.padEnd(6)} ${asFigures(counts)}`);
  }
  for (const half of ["open", "frozen"] as const)
    console.log(`${`all, ${half} half`.padEnd(43)} ${asFigures(total[half])}`);
  const { forbidden, asked, "asked later": later } = total.frozen;
  const all = sumOf(total.frozen);
  return forbidden <= all * 0.01 && asked <= all * 0.08 && later <= all * 0.03;
}

const empty = (): Counts => ({ forbidden: 0, asked: 0, "asked later": 0, published: 0 });
/** A commit that is asked about later is one that is asked about. */
const sumOf = ({ forbidden, asked, published }: Counts) => forbidden + asked + published;

function asFigures(counts: Counts): string {
  const all = sumOf(counts);
  const share = (answer: Answer) =>
    `${counts[answer]} (${all === 0 ? 0 : ((counts[answer] / all) * 100).toFixed(1)} %)`;
  return `${all} commits: forbidden ${share("forbidden")}, asked ${share("asked")}, after ${questionsMax} answers ${share("asked later")}`;
}

/** Oldest first: a project answers its questions as they come. */
async function judgeRepository(gitDir: string, told: string | null): Promise<Counts> {
  const reader = createPageReader();
  const counts = empty();
  const remembered = new Set<string>();
  let questions = 0;
  for (const { id, paths } of (await contentCommits(gitDir)).reverse()) {
    const files = await Promise.all(
      paths.map(async (path) => {
        const text = (await readBlob(gitDir, id, path))?.toString() ?? null;
        return { path, text };
      }),
    );
    const judging = { base: openTree(gitDir, `${id}^`), reader, policy, asked: [] };
    const first = await judgeContent(judging, files, [], AbortSignal.timeout(900_000));
    const say = (answer: string, text: string) =>
      told !== null && console.error(`${told} ${id.slice(0, 9)} ${answer} ${text.replaceAll("\n", "⏎").slice(0, 260)}`);
    for (const { path, rule } of first.violations.slice(0, 3)) say("forbidden", `${path}: ${rule}`);
    for (const { path, line, kind, key, text, reason } of first.constructs)
      say("asked", `${path}:${line} ${kind} [${key}] ${reason} «${text}»`);
    if (first.violations.length > 0) {
      counts.forbidden += 1;
      continue;
    }
    counts[first.constructs.length > 0 ? "asked" : "published"] += 1;
    if (first.constructs.length === 0) continue;
    const left = first.constructs.filter(
      ({ key }) => key === null || ![...remembered].some((one) => covers(key, [one])),
    );
    if (left.length > 0 && questions >= questionsMax) counts["asked later"] += 1;
    // One question has all constructs of a change.
    if (left.length > 0 && questions < questionsMax) {
      questions += 1;
      for (const { key } of left) if (key !== null) remembered.add(key);
    }
  }
  return counts;
}

/** The newest commits that change content only, at least one document among it. */
async function contentCommits(gitDir: string): Promise<{ id: string; paths: readonly string[] }[]> {
  const form = ["--no-merges", "--no-renames", "--name-only", "--format=%x01%H"];
  const log = await runGit(gitDir, ["log", `-${commitsMax}`, ...form, "HEAD"]);
  const commits: { id: string; paths: readonly string[] }[] = [];
  for (const block of log.split("\x01").slice(1)) {
    const [id = "", ...rest] = block.split("\n");
    const paths = rest.filter((path) => path !== "");
    const isContent = paths.every((path) => kindOf(path) !== "other" && refusedBy(policy, path) === null);
    const hasDocument = paths.some(
      (path) => kindOf(path) === "document" && !/(?:^|\/)(?:changelog|readme)/i.test(path),
    );
    if (!isContent || !hasDocument || paths.length > filesMax) continue;
    commits.push({ id, paths });
    if (commits.length === commitsOfEach) break;
  }
  return commits;
}

async function readBlob(gitDir: string, commit: string, path: string): Promise<Buffer | null> {
  const text = await runGit(gitDir, ["cat-file", "blob", `${commit}:${path}`]).catch(() => null);
  return text === null ? null : Buffer.from(text);
}

const searched = ["md", "mdx", "markdown", "rst", "adoc", "asciidoc", "asc", "txt", "json", "yml", "yaml", "toml"].map(
  (ending) => `*.${ending}`,
);

/** As much of a tree as the judge of content reads. */
function openTree(gitDir: string, commit: string): Tree {
  let entries: Promise<readonly TreeEntry[]> | undefined;
  return {
    commit,
    list: () => (entries ??= listTree(gitDir, commit)),
    read: (path) => readBlob(gitDir, commit, path),
    async search({ pattern, ignoreCase, accepts = () => true, matchesMax }: SearchQuery) {
      const flags = ["-I", "-F", "-z", "--name-only", ...(ignoreCase ? ["-i"] : [])];
      const found = await runGit(gitDir, ["grep", ...flags, "-e", pattern, commit, "--", ...searched]).catch(() => "");
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
