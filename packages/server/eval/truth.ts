// npm run eval -- truth [--only REGEX] [--from FOLDER]: stale references in the history of real repositories, judged by hand,
// and how many of the removals that a seeded script plants are found. Needs ctags (universal-ctags) and python3.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { plantRemovals } from "./truth-planting.ts";
import { type Repository, replay } from "./truth-replay.ts";

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
const recallMin = 0.9;
const firstMax = 100;

export async function evaluateTruth(options: {
  cacheDir: string;
  from: string | undefined;
  only: string;
}): Promise<boolean> {
  const judgments = readList<Judgment>("truth-judgments.json");
  const none = { right: 0, judged: 0, planted: 0, seen: 0 };
  const sets = { tuned: { ...none }, "held-out": { ...none } };
  const first: string[] = [];
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
    first.push(...[...found.keys()].flatMap((key) => verdicts.get(key) ?? []));
    sets[pinned.set].right += right;
    sets[pinned.set].judged += found.size - open.length;
    const planting = await plantRemovals(gitDir, repository);
    console.log(
      `${repository.name}  ${commits} commits, ${references} references  findings ${found.size}: right ${right}, wrong ${found.size - right - open.length}, not judged ${open.length}  planted removals found ${planting.seen} of ${planting.planted}`,
    );
    for (const [key, { page }] of open) console.log(`  not judged: ${key} (${page})`);
    for (const key of found.keys()) if (verdicts.get(key) === "wrong") console.log(`  wrong: ${key}`);
    for (const { kind, text, page } of planting.missed) console.log(`  missed: ${kind} ${text} (${page})`);
    sets[pinned.set].planted += planting.planted;
    sets[pinned.set].seen += planting.seen;
  }
  const rightOf = first.slice(0, firstMax).filter((verdict) => verdict === "right").length;
  const firstOnes = Math.min(firstMax, first.length);
  console.log(`of the first ${firstOnes} judged findings, ${rightOf} are right (aim: ${precisionMin})`);
  let isRight = rightOf >= firstOnes * precisionMin;
  for (const [set, { right, judged, planted, seen }] of Object.entries(sets)) {
    if (planted === 0) continue;
    console.log(
      `${set}: precision ${right} of ${judged} judged findings (aim: ${precisionMin}), planted removals found ${seen} of ${planted} (aim: ${recallMin})`,
    );
    isRight &&= right >= judged * precisionMin && seen >= planted * recallMin;
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
