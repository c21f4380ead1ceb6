// Which real changes of code are replayed, in an open and a frozen half.
import { createHash } from "node:crypto";
import { runGit } from "@emend/site";
import { isOutside, isPage, type Repository } from "./truth-replay.ts";

/** The split is made by this seed, before anybody looked. Findings of the frozen half are counted and never printed. */
const seed = "emend drift 1";
const commitsMax = 3_000;
const eachMax = 40;

export interface Hunk {
  path: string;
  /** In the file before the change, 1-based. */
  line: number;
  removed: string[];
  added: string[];
}

export interface Change {
  commit: string;
  half: "open" | "frozen";
  /** `stale`: text of the docs was replaced; `new`: text was only added; `none`: only code changed. */
  kind: "stale" | "new" | "none";
  pages: readonly Hunk[];
  code: readonly Hunk[];
}

const isCode = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|cs|ya?ml|json|toml|lua|ex|exs)$/;
const isTest =
  /(?:^|\/)(?:tests?|e2e|__tests__|testdata|fixtures|vendor|node_modules|examples?)\/|[._](?:test|spec)\.\w+$|_test\.\w+$|lock\.\w+$|(?:^|\/)(?:\.github|ci)\//i;

/** At most `eachMax` with docs and without, by the seed, from the oldest on: then most files of the next one are known. */
export async function listChanges(gitDir: string, repository: Repository & { commit: string }): Promise<Change[]> {
  const log = await runGit(gitDir, [
    ...[
      "log",
      "--first-parent",
      "--diff-merges=first-parent",
      `-${commitsMax}`,
      "--format=%x00%H",
      "--name-only",
      "--no-renames",
    ],
    repository.commit,
  ]);
  const order = (commit: string) => createHash("sha256").update(`${seed} ${repository.name} ${commit}`).digest();
  const left = { docs: eachMax, code: eachMax };
  const candidates = log
    .split("\0")
    .slice(1)
    .map((entry, age) => {
      const [commit = "", ...paths] = entry.trim().split("\n");
      return { commit, paths, age };
    })
    .filter(({ paths }) => {
      const pages = paths.filter((path) => isPage(repository, path)).length;
      const code = paths.filter((path) => isOfCode(repository, path)).length;
      // Releases, reformatting and imports touch much at once.
      return code > 0 && code <= 20 && pages <= 4;
    });
  const changes: (Change & { age: number })[] = [];
  for (const { commit, age } of candidates.sort((a, b) => order(a.commit).compare(order(b.commit)))) {
    if (left.docs + left.code === 0) break;
    // A snapshot may lack its largest files.
    const patch = await runGit(gitDir, ["diff", "-U0", "--no-renames", "--no-color", `${commit}^`, commit]).catch(
      () => "",
    );
    const hunks = parseHunks(patch);
    const pages = hunks.filter(({ path }) => isPage(repository, path));
    const code = hunks.filter(({ path }) => isOfCode(repository, path));
    const lines = (of: readonly Hunk[]) =>
      of.reduce((sum, { removed, added }) => sum + removed.length + added.length, 0);
    if (lines(code) < 2 || lines(code) > 800 || lines(pages) > 120) continue;
    const place = pages.length > 0 ? "docs" : "code";
    if (left[place] === 0) continue;
    left[place]--;
    const half = ((order(commit).at(-1) ?? 0) & 1) === 0 ? "open" : "frozen";
    const kind = pages.length === 0 ? "none" : pages.some(({ removed }) => removed.length > 0) ? "stale" : "new";
    changes.push({ commit, half, kind, pages, code, age });
  }
  return changes.sort((a, b) => b.age - a.age);
}

export function isOfCode(repository: Repository, path: string): boolean {
  return isCode.test(path) && !isTest.test(path) && !isOutside(repository, path);
}

const word = /[A-Za-z_][\w-]{3,}/g;

/** Whether code and docs took out the same word, or brought in the same one: then the docs follow the code. */
export function isRelated({ pages, code }: Pick<Change, "pages" | "code">): boolean {
  const wordsOf = (hunks: readonly Hunk[], side: "removed" | "added") =>
    new Set(hunks.flatMap((hunk) => hunk[side].join("\n").toLowerCase().match(word) ?? []));
  const [codeWas, codeIs] = [wordsOf(code, "removed"), wordsOf(code, "added")];
  return pages.some((page) => {
    const [was, is] = [wordsOf([page], "removed"), wordsOf([page], "added")];
    const isNew = [...is].some((one) => !was.has(one) && codeIs.has(one) && !codeWas.has(one));
    return isNew || [...was].some((one) => !is.has(one) && codeWas.has(one) && !codeIs.has(one));
  });
}

function parseHunks(patch: string): Hunk[] {
  const hunks: Hunk[] = [];
  let path = "";
  for (const line of patch.split("\n")) {
    const file = /^(?:---|\+\+\+) (?:[ab]\/(.+)|\/dev\/null)$/.exec(line);
    const at = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(line);
    if (file !== null) path = file[1] ?? path;
    else if (at !== null) hunks.push({ path, line: Number(at[1]), removed: [], added: [] });
    else if (line.startsWith("-")) hunks.at(-1)?.removed.push(line.slice(1));
    else if (line.startsWith("+")) hunks.at(-1)?.added.push(line.slice(1));
  }
  return hunks;
}
