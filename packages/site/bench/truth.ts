// npm run bench -- truth [--files 20000]: what looking at sources costs, beside `git grep` for one word over the same
// commit. The sources are the programs of node_modules, so that git compresses them as it does real code.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openGitSource } from "../src/git-source.ts";
import { plainDialect } from "../src/parse/dialect.ts";
import { compareReferences } from "../src/references/compare-references.ts";
import { type CodeReference, findCodeReferences } from "../src/references/find-references.ts";
import { indexSource } from "../src/references/source-index.ts";

const { values } = parseArgs({
  options: { files: { type: "string", default: "20000" } },
});
const filesMax = Number(values.files);
const pagesMax = 10_000;
const changedMax = 50;
const runs = 5;
const bytesMax = 200_000;

const dir = mkdtempSync(join(tmpdir(), "emend-truth-"));
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", dir, "-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], {
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

/** Three references a page, two of them to names that stay. */
function referencesOf(file: number): CodeReference[] {
  const text = `# Page ${file}\n\nCall \`run_${file}_0()\`, then \`step_${file}_1\`, with \`step_${file}_2\`.\n`;
  return findCodeReferences(`${file}.md`, Buffer.from(text), plainDialect);
}

async function measure<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const startedAt = performance.now();
  const value = await work();
  return { ms: performance.now() - startedAt, value };
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] as number;

try {
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
  const references = Array.from({ length: pagesMax }, (_, page) => referencesOf(read[page] as number)).flat();
  const grep: number[] = [];
  const cold: number[] = [];
  const next: number[] = [];
  let stale = 0;
  for (let run = 0; run < runs; run++) {
    grep.push((await measure(async () => git("grep", "-c", "-w", "step_77_3", "HEAD~1"))).ms);
    const source = openGitSource(dir);
    const first = await measure(async () => indexSource(await source.at("HEAD~1")));
    cold.push(first.ms);
    const second = await measure(async () => {
      const after = await indexSource(await source.at("HEAD"), { previous: first.value });
      return compareReferences(references, first.value, after);
    });
    next.push(second.ms);
    stale = second.value.length;
    source.close();
  }
  const [ofGrep, ofCold, ofNext] = [median(grep), median(cold), median(next)];
  const rows: [string, number, string][] = [
    [`\`git grep\` for one word over ${filesMax} files (${(bytes / 1e6).toFixed(0)} MB)`, ofGrep, "1"],
    ["cold index of them", ofCold, `${(ofCold / ofGrep).toFixed(2)} of \`git grep\` (aim: 3)`],
    [
      `a commit of ${changedMax} files, ${references.length} references on ${pagesMax} pages`,
      ofNext,
      `${((ofNext / ofCold) * 100).toFixed(1)} % of cold (aim: 10 %)`,
    ],
  ];
  for (const [name, ms, ratio] of rows) console.log(`${name.padEnd(64)} ${ms.toFixed(0).padStart(7)} ms   ${ratio}`);
  const { maxRSS } = process.resourceUsage();
  console.log(`memory of this process at most ${(maxRSS / 1024).toFixed(0)} MB; ${skipped.size} files not read`);
  const isRight = stale === changedMax && ofCold <= ofGrep * 3 && ofNext <= 1000 && ofNext <= ofCold / 10;
  if (stale !== changedMax) console.log(`${stale} stale references; ${changedMax} were made`);
  process.exitCode = isRight ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
