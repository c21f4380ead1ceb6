// npm run bench -- truth: what looking at sources costs, beside `git grep` for one word over the same commit.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openGitSource } from "../src/git-source.ts";
import { plainDialect } from "../src/parse/dialect.ts";
import { compareReferences } from "../src/references/compare-references.ts";
import { type CodeReference, findCodeReferences } from "../src/references/find-references.ts";
import { indexSource } from "../src/references/source-index.ts";

const filesMax = 20_000;
const pagesMax = 10_000;
const changedMax = 50;
const runs = 3;

const dir = mkdtempSync(join(tmpdir(), "emend-truth-"));
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", dir, "-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], {
    maxBuffer: 1 << 28,
  }).toString();

/** A file of a program, about 5 KB, with names of its own. */
function sourceOf(file: number, edition: number): string {
  const functions = Array.from({ length: 25 }, (_, i) => {
    const name = i === 0 ? `run_${file}_${edition}` : `step_${file}_${i}`;
    return `/** Does the part ${i} of the work. */\nexport function ${name}(inputValue: string, options: Options = {}): Result {\n  const prepared = prepare(inputValue, options.timeoutMs ?? ${i * 100});\n  return finish(prepared, "part-${i}");\n}\n`;
  });
  return `import { finish, prepare } from "./lib.ts";\n\n${functions.join("\n")}`;
}

/** Three references a page, two of them to names that stay. */
function referencesOf(page: number): CodeReference[] {
  const file = page % filesMax;
  const text = `# Page ${page}\n\nCall \`run_${file}_0()\`, then \`step_${file}_1\`, with \`step_${file}_2\`.\n`;
  return findCodeReferences(`${page}.md`, Buffer.from(text), plainDialect);
}

async function measure<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const startedAt = performance.now();
  const value = await work();
  return { ms: performance.now() - startedAt, value };
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] as number;

try {
  git("init", "-q");
  for (let i = 0; i < filesMax; i++) {
    const folder = join(dir, `src/${i % 200}`);
    if (i < 200) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${i}.ts`), sourceOf(i, 0));
  }
  git("add", "-A");
  git("commit", "-q", "-m", "one");
  git("repack", "-adq");
  for (let i = 0; i < changedMax; i++) writeFileSync(join(dir, `src/${i % 200}/${i}.ts`), sourceOf(i, 1));
  git("commit", "-q", "-a", "-m", "two");
  const references = Array.from({ length: pagesMax }, (_, page) => referencesOf(page)).flat();
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
  const row = (name: string, ms: number, ratio: string): void =>
    console.log(`${name.padEnd(64)} ${ms.toFixed(0).padStart(7)} ms   ${ratio}`);
  row(`git grep for one word over ${filesMax} files`, ofGrep, "1");
  row(`cold index of them`, ofCold, `${(ofCold / ofGrep).toFixed(2)} of git grep (at most 3)`);
  row(
    `a commit of ${changedMax} files, ${references.length} references on ${pagesMax} pages`,
    ofNext,
    `${((ofNext / ofCold) * 100).toFixed(1)} % of cold (at most 10 %)`,
  );
  const isRight = stale === changedMax && ofCold <= ofGrep * 3 && ofNext <= 1000 && ofNext <= ofCold / 10;
  if (stale !== changedMax) console.log(`${stale} stale references; ${changedMax} were made`);
  process.exitCode = isRight ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
