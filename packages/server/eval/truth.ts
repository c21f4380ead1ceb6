// npm run eval -- truth [--only REGEX] [--from FOLDER]: stale references in the history of real repositories, judged by hand,
// and how many of the removals that a seeded script plants are found.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type CodeReference, compareReferences, indexSource, openGitSource, type SiteTree } from "@emend/site";
import { createPageReader, isOutside, type Repository, replay } from "./truth-replay.ts";

/** A repository with code and docs together, pinned to a commit. Paths that match `outside` are neither. */
interface Pinned {
  name: string;
  commit: string;
  docs: readonly string[];
  outside?: string;
  /** How far back, and how many commits are one change: most commits make nothing stale. */
  commits: number;
  stride: number;
  /** Whether the rules were changed after its findings were judged. */
  set: "tuned" | "held-out";
}

interface Judgment {
  repository: string;
  commit: string;
  page: string;
  line?: number;
  reference: string;
  verdict: "right" | "wrong";
  why: string;
  set: "tuned" | "held-out";
}

const precisionMin = 0.95;
const plantedMax = 100;

export async function evaluateTruth(options: {
  cacheDir: string;
  from: string | undefined;
  only: string;
}): Promise<boolean> {
  const judgments = readList<Judgment>("truth-judgments.json");
  const removals = { planted: 0, seen: 0 };
  const sets = { tuned: { right: 0, judged: 0 }, "held-out": { right: 0, judged: 0 } };
  for (const { outside, ...pinned } of readList<Pinned>("truth-repositories.json")) {
    if (!new RegExp(options.only).test(pinned.name)) continue;
    const repository: Repository = { ...pinned, ...(outside !== undefined && { outside: new RegExp(outside) }) };
    const gitDir = await cloneWhole(pinned, options);
    const found = new Map<string, { commit: string; page: string }>();
    const { commits, references } = await replay(gitDir, repository, pinned, ({ commit, stale }) => {
      const key = `${commit.slice(0, 9)} ${stale.gone}`;
      if (!found.has(key)) found.set(key, { commit, page: stale.reference.page });
    });
    const judged = judgments.filter((one) => one.repository === repository.name);
    const verdicts = new Map(judged.map(({ commit, reference, verdict }) => [`${commit} ${reference}`, verdict]));
    const right = [...found.keys()].filter((key) => verdicts.get(key) === "right").length;
    const open = [...found].filter(([key]) => !verdicts.has(key));
    sets[pinned.set].right += right;
    sets[pinned.set].judged += found.size - open.length;
    const { planted, seen } = await plantRemovals(gitDir, repository);
    console.log(
      `${repository.name}  ${commits} commits, ${references} references  findings ${found.size}: right ${right}, wrong ${found.size - right - open.length}, not judged ${open.length}  planted removals found ${seen} of ${planted}`,
    );
    for (const [key, { page }] of open) console.log(`  not judged: ${key} (${page})`);
    removals.planted += planted;
    removals.seen += seen;
  }
  console.log(`planted removals found ${removals.seen} of ${removals.planted}`);
  let isRight = removals.seen >= removals.planted * 0.9;
  for (const [set, { right, judged }] of Object.entries(sets)) {
    if (judged === 0) continue;
    console.log(`precision ${(right / judged).toFixed(2)} of ${judged} judged findings, ${set} (aim: ${precisionMin})`);
    isRight &&= right >= judged * precisionMin;
  }
  return isRight;
}

function readList<T>(name: string): readonly T[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8")) as readonly T[];
}

/** A clone with its history; with `from`, one that lies in that folder as `owner+name`. */
async function cloneWhole(
  { name, commit }: { name: string; commit: string },
  { cacheDir, from }: { cacheDir: string; from: string | undefined },
): Promise<string> {
  const folder = name.replace("/", "+");
  if (from !== undefined) {
    const places = [join(from, folder), join(from, folder, ".git"), join(from, folder, "repo")];
    const found = places.find((place) => existsSync(join(place, "objects")));
    if (found === undefined) throw new Error(`${join(from, folder)} is no clone`);
    return found;
  }
  const dir = join(cacheDir, `${folder}-whole.git`);
  await mkdir(cacheDir, { recursive: true });
  if (!existsSync(dir)) execFileSync("git", ["clone", "--quiet", "--bare", `https://github.com/${name}`, dir]);
  execFileSync("git", ["-C", dir, "update-ref", "--no-deref", "HEAD", commit]);
  return dir;
}

/** Takes names that the docs use out of the sources, one at a time, and counts how often that is seen. */
async function plantRemovals(gitDir: string, repository: Repository): Promise<{ planted: number; seen: number }> {
  const source = openGitSource(gitDir);
  try {
    const tree = await source.at("HEAD");
    const outside = (path: string): boolean => isOutside(repository, path);
    const before = await indexSource(tree, { isOutside: outside });
    const known = (await createPageReader(repository)(tree, null)).filter((reference) => before.knows(reference));
    const chosen = choose(known, plantedMax);
    let seen = 0;
    for (const reference of chosen) {
      const word = reference.text.split(/\.|::|#/).at(-1) as string;
      const paths = [word, ...spellings(word)].flatMap((one) => before.filesWith(one, Infinity));
      const after = await indexSource(withoutWord(tree, word, new Set(paths)), {
        previous: before,
        isOutside: outside,
      });
      if ((await compareReferences([reference], before, after)).length > 0) seen++;
    }
    return { planted: chosen.length, seen };
  } finally {
    source.close();
  }
}

/** Names of the sources, each once, spread by a fixed seed. */
function choose(references: readonly CodeReference[], max: number): CodeReference[] {
  const kinds = new Set(["identifier", "flag", "env", "config-key", "path"]);
  const distinct = [
    ...new Map(references.filter(({ kind }) => kinds.has(kind)).map((one) => [one.text, one])).values(),
  ];
  let state = 20;
  const draws = distinct.map((reference) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return { reference, draw: state };
  });
  return draws
    .sort((a, b) => a.draw - b.draw)
    .slice(0, max)
    .map(({ reference }) => reference);
}

/** How programs define `--dry-run` and `dry-run`: `dry-run`, `dry_run`, `dryRun`, `DryRun`, `DRY_RUN`. */
function spellings(word: string): string[] {
  const words = word.replace(/^--/, "").split("-");
  if (words.length === 1) return [];
  const pascal = words.map((one) => one.charAt(0).toUpperCase() + one.slice(1)).join("");
  const snake = words.join("_");
  return [words.join("-"), snake, pascal.charAt(0).toLowerCase() + pascal.slice(1), pascal, snake.toUpperCase()];
}

/** The tree with a word taken out of some files, with its other spellings. A flag goes with the plain word, which programs read. */
function withoutWord(tree: SiteTree, word: string, paths: ReadonlySet<string>): SiteTree {
  const plain = word.startsWith("--") ? [word.slice(2)] : [];
  const names = [word, ...plain, ...spellings(word)].map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const whole = new RegExp(`(?<![\\w$])(?:${names.join("|")})(?![\\w$])`, "g");
  return {
    list: async () =>
      (await tree.list()).map((file) => (paths.has(file.path) ? { ...file, hash: `${file.hash}-${word}` } : file)),
    async read(path) {
      const bytes = await tree.read(path);
      return bytes === null || !paths.has(path)
        ? bytes
        : Buffer.from(Buffer.from(bytes).toString().replace(whole, "zzGone"));
    },
  };
}
