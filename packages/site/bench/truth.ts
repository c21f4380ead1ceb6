// npm run bench -- truth [--files 20000] [--source REPOSITORY[@REVISION]] [--write]: what looking at sources costs, beside
// `git grep` for one word over the same commit. Both read from git's object store, never from a work tree. One round that does not
// count fills the caches of the system and warms up both programs; then they take turns, and the median of the rounds counts.
//
// The sources are the programs of node_modules, so that git compresses them as it does real code. With --source, a real
// repository too: it also has files that Emend does not read, such as pictures.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { openGitSource } from "../src/git-source.ts";
import { createParseCache, openSite, readSiteReferences, type SiteTree } from "../src/index.ts";
import { compareReferences } from "../src/references/compare-references.ts";
import type { CodeReference } from "../src/references/find-references.ts";
import { indexSource, type SourceIndex } from "../src/references/source-index.ts";
import { writeResults } from "./results.ts";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "20000" },
    source: { type: "string" },
    write: { type: "boolean", default: false },
    // Internal: only makes the source, in this folder.
    make: { type: "string" },
  },
});
const filesMax = Number(values.files);
const pagesMax = 10_000;
const changedMax = 50;
const rounds = 9;
const bytesMax = 200_000;

const dir = values.make ?? mkdtempSync(join(tmpdir(), "emend-truth-"));
const git = (...args: string[]): string => gitIn(dir, ...args);
const gitIn = (folder: string, ...args: string[]): string =>
  execFileSync("git", ["-C", folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], {
    maxBuffer: 1 << 28,
  }).toString();

/** The programs of the installed packages. */
function programs(): string[] {
  const root = join(import.meta.dirname, "../../../node_modules");
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A program with three names of its own at its end. */
function sourceOf(text: string, file: number, edition: number): string {
  const names = [`run_${file}_${edition}`, `step_${file}_1`, `step_${file}_2`];
  return `${text}\n${names.map((name) => `export function ${name}(input) {}\n`).join("")}`;
}

/** Pages with three references each, two of them to names that stay. */
function pagesOf(files: readonly number[]): SiteTree {
  const texts = new Map<string, string>();
  for (const file of files) {
    const text = `# Page ${file}\n\nCall \`run_${file}_0()\`, then \`step_${file}_1\`, with \`step_${file}_2\`.\n`;
    texts.set(`${file}.md`, text);
  }
  return {
    list: async () => [...texts.keys()].map((path) => ({ path, hash: path })),
    read: async (path) => Buffer.from(texts.get(path) ?? ""),
  };
}

interface Measured {
  ms: number;
  /** Processor time of this process and of the git processes that ended. Only Linux tells. */
  cpuMs: number;
}

/** In hundredths of a second: this process, and its children that ended. */
function processorTicks(): number {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
  } catch {
    return Number.NaN;
  }
}

async function measure<T>(into: Measured[], work: () => Promise<T>): Promise<T> {
  const ticks = processorTicks();
  const startedAt = performance.now();
  const value = await work();
  into.push({ ms: performance.now() - startedAt, cpuMs: (processorTicks() - ticks) * 10 });
  return value;
}

const median = (of: readonly Measured[], field: keyof Measured): number =>
  // The first round warms up.
  of
    .map((one) => one[field])
    .slice(1)
    .sort((a, b) => a - b)[(of.length - 1) >> 1] as number;

/** Nothing is found, so everything is searched. */
function grep(folder: string, commit: string): void {
  try {
    gitIn(folder, "grep", "-c", "-w", "emend_no_such_word", commit);
  } catch (error) {
    if ((error as { status?: number }).status !== 1) throw error;
  }
}

interface Made {
  /** The numbers of the files that an index reads. */
  read: number[];
  bytes: number;
}

/**
 * Makes the repository in a process of its own: the texts of all files would stay in this one's memory, and the larger a
 * process is, the longer takes each start of git.
 */
function madeElsewhere(): Made {
  const args = [import.meta.filename, "--files", values.files, "--make", dir];
  return JSON.parse(execFileSync(process.execPath, args, { maxBuffer: 1 << 28 }).toString()) as Made;
}

async function makeSource(): Promise<Made> {
  git("init", "-q");
  const texts = programs()
    .map((path) => readFileSync(path, "latin1"))
    .filter((text) => text.length <= bytesMax);
  const textOf = (file: number): string => texts[file % texts.length] as string;
  let bytes = 0;
  for (let i = 0; i < filesMax; i++) {
    const folder = join(dir, `src/${i % 200}`);
    if (i < 200) mkdirSync(folder, { recursive: true });
    const text = sourceOf(textOf(i), i, 0);
    bytes += text.length;
    writeFileSync(join(folder, `${i}.ts`), text, "latin1");
  }
  git("add", "-A");
  git("commit", "-q", "-m", "one");
  git("repack", "-adq");
  // Generated and minified programs are not read: names that pages use are in the others.
  const source = openGitSource(dir);
  const { skipped } = await indexSource(await source.at("HEAD"));
  source.close();
  const read = Array.from({ length: filesMax }, (_, i) => i).filter((i) => !skipped.has(`src/${i % 200}/${i}.ts`));
  for (const i of read.slice(0, changedMax))
    writeFileSync(join(dir, `src/${i % 200}/${i}.ts`), sourceOf(textOf(i), i, 1), "latin1");
  git("commit", "-q", "-a", "-m", "two");
  return { read, bytes };
}

const commitOf = (folder: string, revision: string): string =>
  gitIn(folder, "rev-parse", `${revision}^{commit}`).trim();

type Row = [what: string, measured: Measured[], beside: string, isMet: boolean | null];

function besideGrep(cold: Measured[], found: Measured[]): [string, boolean] {
  const [ratio, ofProcessor] = (["ms", "cpuMs"] as const).map((field) => median(cold, field) / median(found, field));
  const processor = Number.isNaN(ofProcessor) ? "" : `, ${ofProcessor?.toFixed(1)}× its processor time`;
  return [`${ratio?.toFixed(2)}× \`git grep\`${processor} (aim ≤ 3×)`, (ratio as number) <= 3];
}

if (values.make !== undefined) {
  process.stdout.write(JSON.stringify(await makeSource()));
  process.exit();
}

try {
  const { read, bytes } = madeElsewhere();
  const tree = pagesOf(read.slice(0, pagesMax));
  const cache = createParseCache();
  const [before, after] = [commitOf(dir, "HEAD~1"), commitOf(dir, "HEAD")];
  const times = { grep: [], cold: [], next: [], realGrep: [], realCold: [] } as Record<string, Measured[]>;
  const of = (name: string): Measured[] => times[name] as Measured[];
  const [folder = "", revision = "HEAD"] = values.source?.split("@") ?? [];
  const real = folder === "" ? "" : commitOf(folder, revision);
  let realFiles = 0;
  // What a gate does before it compares: it opens the docs, and finds what they name.
  const gate: Measured[] = [];
  let references: CodeReference[] = [];
  for (let look = 0; look < 2; look++) {
    const pages = await measure(gate, async () => readSiteReferences(await openSite(tree, { cache })));
    references = [...pages.values()].flatMap((page) => page.references);
  }
  for (let round = 0; round <= rounds; round++) {
    await measure(of("grep"), async () => grep(dir, before));
    const source = openGitSource(dir);
    const first = await measure(of("cold"), async () => indexSource(await source.at(before)));
    const stale = await measure(of("next"), async () => {
      const now = await indexSource(await source.at(after), { previous: first });
      return compareReferences(references, first, now);
    });
    source.close();
    if (stale.length !== changedMax) throw new Error(`${stale.length} stale references; ${changedMax} were made`);
    if (real === "") continue;
    await measure(of("realGrep"), async () => grep(folder, real));
    const other = openGitSource(folder);
    const index: SourceIndex = await measure(of("realCold"), async () => indexSource(await other.at(real)));
    realFiles = index.files.size;
    other.close();
  }
  const [ofCold, ofNext] = [median(of("cold"), "ms"), median(of("next"), "ms")];
  const share = (ofNext / ofCold) * 100;
  const rows: Row[] = [
    [`\`git grep\` for one word over ${filesMax} files (${(bytes / 1e6).toFixed(0)} MB)`, of("grep"), "1", null],
    ["cold index of them", of("cold"), ...besideGrep(of("cold"), of("grep"))],
    [
      `a commit of ${changedMax} files, against ${references.length} references on ${pagesMax} pages`,
      of("next"),
      `${share.toFixed(1)} % of the cold index (aim ≤ 10 %, ≤ 1000 ms)`,
      ofNext <= 1000 && share <= 10,
    ],
    [`a gate opens these pages again and finds their references`, gate, "", null],
  ];
  if (real !== "") {
    const name = basename(folder) === "repo" ? basename(dirname(folder)) : basename(folder);
    rows.push(
      [`\`git grep\` over ${name} at ${real.slice(0, 10)} (${realFiles} files)`, of("realGrep"), "1", null],
      ["cold index of it", of("realCold"), ...besideGrep(of("realCold"), of("realGrep"))],
    );
  }
  const toldOf = (isMet: boolean | null): string => (isMet === null ? "" : isMet ? "yes" : "no");
  for (const [what, measured, beside, isMet] of rows)
    console.log(
      `${what.padEnd(72)} ${median(measured, "ms").toFixed(0).padStart(7)} ms   ${beside}${isMet === false ? ": missed" : ""}`,
    );
  console.log(`memory of this process at most ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`);
  if (values.write) {
    await writeResults("truth", "npm run bench -- truth --write", {
      table: [
        "| what | median | beside | met |",
        "|---|---:|---|---|",
        ...rows.map(
          ([what, measured, beside, isMet]) =>
            `| ${what} | ${median(measured, "ms").toFixed(0)} ms | ${beside} | ${toldOf(isMet)} |`,
        ),
      ],
    });
  }
  process.exitCode = rows.some(([, , , isMet]) => isMet === false) ? 1 : 0;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
