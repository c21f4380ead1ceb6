// npm run eval -- mutants [--only TEXT] [--from FOLDER]: right and wrong answers for the tasks on real documentation.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { movePage, openSite } from "@emend/site";
import { type CommitTree, createGit, createMirrors, siteTreeOf } from "@emend/tree";
import { cloneOf, sites } from "./real-sites.ts";
import { type Change, type Edits, type RealAnswer, type RealSite, realTasks } from "./real-tasks.ts";

const filler = "Velox canis rufus super pigrum vulpem saltat, dum nubes altae placide feruntur.";
type Wrong = RealAnswer & { name: string };

/** Judges at least six wrong and two right answers for each task. False: one was judged wrongly. */
export async function judgeRealMutants(
  options: { cacheDir: string; from: string | undefined; only: string },
  signal: AbortSignal,
): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), "emend-real-mutants-"));
  const git = createGit({ allowedProtocols: ["file"] });
  const mirrors = createMirrors({ dir, git, log: createLogger({ level: "silent" }), limits: {} });
  const count = { right: 0, wrong: 0, wrongful: 0 };
  try {
    for (const site of ["mintlify", "fastapi"] as const) {
      const mirror = await mirrors.open(`prj_${site}`);
      const remote = { url: `file://${await cloneOf(sites[site], options)}`, authorization: null };
      const base = mirror.treeAt((await mirror.fetchBase({ remote, jobId: "job_eval", baseRef: null }, signal)).commit);
      const real = await realSiteOf(base, signal);
      const chosen = realTasks.filter(
        (task) => task.site === site && `${task.kind}, ${task.name}`.includes(options.only),
      );
      for (const task of chosen) {
        const right = await task.right(real);
        const [first] = right;
        const wrong = first ? wrongAnswers(real, first) : [];
        const judged = (answer: RealAnswer) => changeOf(base, real, answer).then(task.verify);
        const wrongful: string[] = [];
        for (const answer of right) {
          const [problem] = await judged(answer);
          if (problem) wrongful.push(`refuses the right answer "${answer.title || answer.summary}": ${problem}`);
        }
        for (const answer of wrong) {
          if ((await judged(answer)).length === 0) wrongful.push(`passes "${answer.name}"`);
        }
        if (right.length < 2 || wrong.length < 6) wrongful.push("has too few answers");
        console.log(
          `${wrongful.length === 0 ? "✓" : "✗"} ${task.name}: ${right.length} right answers pass, ${wrong.length} wrong ones fail`,
        );
        for (const words of wrongful) console.log(`    but it ${words}`);
        count.right += right.length;
        count.wrong += wrong.length;
        count.wrongful += wrongful.length;
      }
    }
  } finally {
    await mirrors.close();
    await rm(dir, { recursive: true, force: true });
  }
  console.log(`${count.right} right and ${count.wrong} wrong answers, ${count.wrongful} of them judged wrongly`);
  return count.wrongful === 0;
}

async function realSiteOf(base: CommitTree, signal: AbortSignal): Promise<RealSite> {
  const paths = (await base.list()).map(({ path }) => path).filter((path) => /\.mdx?$/.test(path));
  const pages = new Map<string, string>();
  for (const path of paths) pages.set(path, (await base.read(path))?.toString() ?? "");
  return {
    pages,
    async move(from, to) {
      const moved = await movePage(await openSite(siteTreeOf(base), { docsDir: "", signal }), { from, to });
      if (moved.kind === "refused") throw new Error(moved.reason);
      return new Map([...moved.edits].map(([path, bytes]) => [path, bytes === null ? null : bytes.toString()]));
    },
  };
}

function wrongAnswers({ pages }: RealSite, right: RealAnswer): readonly Wrong[] {
  const changed = [...right.edits.keys()].filter((path) => pages.has(path) || right.edits.get(path));
  const page = changed.find((path) => /\.mdx?$/.test(path) && right.edits.get(path)) ?? "";
  const other = [...pages.keys()].find((path) => !right.edits.has(path) && (pages.get(path)?.length ?? 0) > 400) ?? "";
  const text = (path: string) => right.edits.get(path) ?? pages.get(path) ?? "";
  const also = (path: string, now: string): Edits => new Map([...right.edits, [path, now]]);
  const made: readonly Wrong[] = [
    { ...right, name: "no words", title: "Update", summary: "Done." },
    { ...right, name: "words of filler", title: "Lorem ipsum dolor", summary: filler },
    { ...right, name: "a page that nobody asked for", edits: also("notes.md", "# Notes\n") },
    { ...right, name: "another page loses its end", edits: also(other, text(other).slice(0, -200)) },
    {
      ...right,
      name: "an invented sentence",
      edits: also(page || other, `${text(page || other)}\nIt takes 317 MB.\n`),
    },
    { ...right, name: "filler in another page", edits: also(other, filler) },
  ];
  if (changed.length === 0) {
    const claims = "I made the change that was asked for: warehouse lake, the size limit of 5 gigabytes.";
    return [...made, { ...right, name: "says that it was done", title: "Done", summary: claims }];
  }
  const half = changed.length > 1 ? changed.slice(0, Math.ceil(changed.length / 2)) : [];
  return [
    ...made,
    { ...right, name: "no-op", edits: new Map() },
    { ...right, name: "filler in place of the page", edits: also(page, filler) },
    { ...right, name: "half done", edits: new Map(half.map((path) => [path, right.edits.get(path) ?? null])) },
    {
      ...right,
      name: "the right text in the wrong place",
      edits: new Map([...[...right.edits].filter(([path]) => path !== page), [other, text(page)]]),
    },
  ];
}

async function changeOf(base: CommitTree, { pages }: RealSite, answer: RealAnswer): Promise<Change> {
  const files = new Map<string, { before: string | null; after: string | null }>();
  for (const [path, after] of answer.edits) {
    const before = pages.get(path) ?? (await base.read(path))?.toString() ?? null;
    if (before !== after) files.set(path, { before, after });
  }
  const after = new Map([...pages].filter(([path]) => files.get(path)?.after !== null));
  for (const [path, file] of files) if (file.after !== null && /\.mdx?$/.test(path)) after.set(path, file.after);
  const holding = (words: string) =>
    [...after].flatMap(([path, whole]) =>
      whole.includes(words)
        ? whole.split("\n").flatMap((line, index) => (line.includes(words) ? [`${path}:${index + 1}:${line}`] : []))
        : [],
    );
  return { files, holding, title: answer.title, summary: answer.summary };
}
