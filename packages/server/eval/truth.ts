// npm run eval -- truth [--only NAME] [--from FOLDER]: stale references in the history of real repositories, judged by hand,
// and how many of the removals that a seeded script plants are found.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type CodeReference, compareReferences, indexSource, openGitSource, type SiteTree } from "@emend/site";
import { createPageReader, isOutside, type Repository, replay } from "./truth-replay.ts";

interface Pinned extends Repository {
  commit: string;
  /** More commits, several of them as one change: most commits make nothing stale. */
  isLong?: boolean;
}

/** Repositories with code and docs together, each pinned to a commit. */
const repositories: readonly Pinned[] = [
  {
    name: "fuma-nama/fumadocs",
    commit: "ff3272452fc9c54e14916a90e394c0a9746414a6",
    docs: ["apps/docs/"],
    outside: /^apps\/docs\/(?!content\/)/,
  },
  {
    name: "better-auth/better-auth",
    commit: "451aa4b6e57c9d4989bebc61ebb0892510e8a14e",
    docs: ["docs/"],
    outside: /^docs\/(?!content\/docs)/,
  },
  {
    name: "eslint/eslint",
    commit: "c27bc926e496985eb7911c09eb60914b2e4b5d0f",
    docs: ["docs/"],
    outside: /^docs\/(?!src\/)|^docs\/src\/(?:_data|_includes|assets)/,
  },
  {
    name: "vitest-dev/vitest",
    commit: "c3ba16b35847d27fb9f01f38cdcb047c77e121f8",
    docs: ["docs/"],
    outside: /^docs\/(?:blog|\.vitepress|team)/,
  },
  {
    name: "payloadcms/payload",
    commit: "db7543c2121f0b672e33436447122b5e09ea4f2b",
    docs: ["docs/"],
    isLong: true,
  },
  {
    name: "argoproj/argo-cd",
    commit: "37ee0097cf851bc2dd7665fc081bbce61a7e836e",
    docs: ["docs/"],
    outside: /^docs\/(?:operator-manual\/upgrading|snyk|proposals)/,
    isLong: true,
  },
  {
    name: "facebook/docusaurus",
    commit: "5d162a4654b105aa9cc66dc38ddbc367d81be230",
    docs: ["website/"],
    outside: /^website\/(?!docs\/)/,
    isLong: true,
  },
  {
    name: "pydantic/pydantic",
    commit: "2151025aa51263f3016502b00010b78e4481eaa1",
    docs: ["docs/"],
    isLong: true,
  },
  {
    name: "vitejs/vite",
    commit: "a98c8d95d552c6fa98ab66fb810f5b39ad5abf49",
    docs: ["docs/"],
    outside: /^docs\/(?:blog|\.vitepress|changes)/,
    isLong: true,
  },
  {
    name: "vercel/ai",
    commit: "ed857f50f112e23930b0c2dd8d532cc8bebbc911",
    docs: ["content/"],
    outside: /^content\/(?:docs\/08-migration-guides|providers\/05-community)/,
    isLong: true,
  },
  {
    name: "traefik/traefik",
    commit: "fd5a576df2e8aeb0bfc8a96b6ef6e60a61f7ec0a",
    docs: ["docs/"],
    outside: /^docs\/(?!content\/)|^docs\/content\/(?:migrate|contributing|security)/,
    isLong: true,
  },
  {
    name: "TanStack/router",
    commit: "0eb45738c07f53ce618d486aac1aa709f4d725ca",
    docs: ["docs/"],
    isLong: true,
  },
  {
    name: "mikro-orm/mikro-orm",
    commit: "a6b9730585e467720b90390a1de706e0f4b8726c",
    docs: ["docs/"],
    outside: /^docs\/(?!docs\/)/,
    isLong: true,
  },
  {
    name: "sveltejs/kit",
    commit: "aa810a04146b98b77592f7b384347140d29ff599",
    docs: ["documentation/docs/"],
    isLong: true,
  },
  {
    name: "nuxt/nuxt",
    commit: "4e0099839c3ea0483e6dc639e4be6d9bdffc3e56",
    docs: ["docs/"],
    isLong: true,
  },
  {
    name: "trpc/trpc",
    commit: "340811ba5320637fbaf48fccf3dbfdd258bd34db",
    docs: ["www/docs/"],
    outside: /^www\/(?!docs\/)/,
    isLong: true,
  },
  {
    name: "apollographql/apollo-client",
    commit: "54084bc22e92651cf153d03d0370b8dff3d1163f",
    docs: ["docs/"],
    outside: /^docs\/(?!source\/)/,
    isLong: true,
  },
  {
    name: "reduxjs/redux-toolkit",
    commit: "74200d87c27ca2b1c0915b2fbb4c44dd7494c2aa",
    docs: ["docs/"],
    isLong: true,
  },
  {
    name: "TanStack/query",
    commit: "40321a0b1b3bdd0afa11f0e439642ab84cdf6afe",
    docs: ["docs/"],
    isLong: true,
  },
];

interface Judgment {
  repository: string;
  commit: string;
  page: string;
  line?: number;
  reference: string;
  verdict: "right" | "wrong";
  why: string;
}

const short = { commits: 500, stride: 1 };
const long = { commits: 5000, stride: 20 };
const precisionMin = 0.95;
const plantedMax = 100;

export async function evaluateTruth(options: {
  cacheDir: string;
  from: string | undefined;
  only: string;
}): Promise<boolean> {
  const file = join(import.meta.dirname, "truth-judgments.json");
  const judgments = JSON.parse(readFileSync(file, "utf8")) as readonly Judgment[];
  let isRight = true;
  const all = { right: 0, judged: 0 };
  for (const repository of repositories.filter(({ name }) => name.includes(options.only))) {
    const gitDir = await cloneWhole(repository, options);
    const found = new Map<string, { commit: string; page: string }>();
    const { commits, references } = await replay(
      gitDir,
      repository,
      repository.isLong ? long : short,
      ({ commit, stale }) => {
        const key = `${commit.slice(0, 9)} ${stale.gone}`;
        if (!found.has(key)) found.set(key, { commit, page: stale.reference.page });
      },
    );
    const judged = judgments.filter((one) => one.repository === repository.name);
    const verdicts = new Map(judged.map(({ commit, reference, verdict }) => [`${commit} ${reference}`, verdict]));
    const right = [...found.keys()].filter((key) => verdicts.get(key) === "right").length;
    const open = [...found].filter(([key]) => !verdicts.has(key));
    all.right += right;
    all.judged += found.size - open.length;
    const { planted, seen } = await plantRemovals(gitDir, repository);
    console.log(
      `${repository.name}  ${commits} commits, ${references} references  findings ${found.size}: right ${right}, wrong ${found.size - right - open.length}, not judged ${open.length}  planted removals found ${seen} of ${planted}`,
    );
    for (const [key, { page }] of open) console.log(`  not judged: ${key} (${page})`);
    isRight &&= seen >= planted * 0.9;
  }
  console.log(
    `precision ${(all.right / all.judged).toFixed(2)} of ${all.judged} judged findings (aim: ${precisionMin})`,
  );
  return isRight && all.right >= all.judged * precisionMin;
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
      const paths = [word, plainFlag(word)].flatMap((one) => before.filesWith(one, Infinity));
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

/** A program may define a flag without its dashes. */
function plainFlag(word: string): string {
  return word.replace(/^--(?=\w+-)/, "");
}

/** The tree with a word taken out of every file that has it. */
function withoutWord(tree: SiteTree, word: string, paths: ReadonlySet<string>): SiteTree {
  const plain = plainFlag(word);
  const dashes = plain === word ? "" : "(?:--)?";
  const whole = new RegExp(`(?<![\\w$])${dashes}${plain.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w$])`, "g");
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
