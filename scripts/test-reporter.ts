// What `npm test` prints of its tests: failures as they are, progress while it runs, and at the end one line of numbers, the
// time, and what this machine left out. With EMEND_TEST_TIMES=1 also the time by package (`npm run bench -- tests`).
import { MinimalReporter, type TestModule, type TestSpecification } from "vitest/node";

/** How often a run without a terminal, as in CI, says how far it is. */
const progressMs = 30_000;
/** How many of the slowest files the times name. */
const filesNamed = 40;

// biome-ignore lint/style/noDefaultExport: Vitest loads a reporter by its default export.
export default class ProgressReporter extends MinimalReporter {
  #startedAt = performance.now();
  #saidAt = this.#startedAt;
  #filesAll = 0;
  readonly #modules: TestModule[] = [];
  #tests = 0;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#startedAt = performance.now();
    this.#saidAt = this.#startedAt;
    this.#filesAll = specifications.length;
  }

  override onTestModuleEnd(module: TestModule): void {
    if (process.stdout.isTTY) process.stdout.write("\r\x1b[K");
    super.onTestModuleEnd(module);
    this.#modules.push(module);
    for (const _ of module.children.allTests()) this.#tests += 1;
    const now = performance.now();
    const text = `  ${this.#modules.length} of ${this.#filesAll} files, ${this.#tests} tests, ${minutes(now - this.#startedAt)}`;
    if (process.stdout.isTTY) process.stdout.write(text);
    else if (now - this.#saidAt > progressMs) {
      this.#saidAt = now;
      console.log(text);
    }
  }

  override reportTestSummary(_files: unknown, errors: unknown[]): void {
    if (process.stdout.isTTY) process.stdout.write("\r\x1b[K");
    if (process.env.EMEND_TEST_TIMES !== undefined) this.#printTimes();
    const tests = this.#modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const brokenFiles = this.#modules.filter((module) => module.state() === "failed" && module.errors().length > 0);
    const skipped = tests.filter((test) => test.result().state === "skipped");
    const whyOf = (test: (typeof tests)[number]) => {
      const result = test.result();
      const note = result.state === "skipped" ? result.note : undefined;
      return needOf(`${note ?? ""} ${test.fullName}`);
    };
    const reasons = Map.groupBy(skipped, whyOf);
    const failed = count("failed") + brokenFiles.length + errors.length;
    console.log(`\n${count("passed")} passed, ${failed} failed, ${skipped.length} skipped`);
    const left = [...reasons].map(([why, some]) => `${some.length} ${why}`).join(", ");
    const wide = process.env.MODE === "quick" ? " `npm run test:all` runs the wide tier too." : "";
    console.log(`in ${minutes(performance.now() - this.#startedAt)}.${left && ` Left out here: ${left}.`}${wide}`);
    const missing = skipped.filter((test) => !isForOthers(whyOf(test)));
    if (process.env.CI === undefined || missing.length === 0) return;
    for (const test of missing) console.error(`Not run: ${test.module.relativeModuleId}: ${test.fullName}`);
    console.error("In CI every test must run: install what the tests above name.");
    process.exitCode = 1;
  }

  #printTimes(): void {
    const byPackage = Map.groupBy(
      this.#modules,
      ({ relativeModuleId }) =>
        /^packages\/dashboard\/test\/browser|^packages\/[^/]+/.exec(relativeModuleId)?.[0] ?? "the rest",
    );
    const secondsOf = (modules: readonly TestModule[]) =>
      modules.reduce((sum, module) => sum + module.diagnostic().duration + module.diagnostic().collectDuration, 0) /
      1000;
    const rows = [...byPackage].map(([name, modules]) => ({ name, modules, seconds: secondsOf(modules) }));
    console.log("\n| package | files | tests | s, of processes side by side |\n|---|---:|---:|---:|");
    for (const { name, modules, seconds } of rows.sort((a, b) => b.seconds - a.seconds)) {
      const tests = modules.reduce((sum, module) => sum + [...module.children.allTests()].length, 0);
      console.log(`| ${name} | ${modules.length} | ${tests} | ${seconds.toFixed(1)} |`);
    }
    console.log("\n| file | s |\n|---|---:|");
    for (const module of this.#modules.toSorted((a, b) => secondsOf([b]) - secondsOf([a])).slice(0, filesNamed))
      console.log(`| ${module.relativeModuleId} | ${secondsOf([module]).toFixed(1)} |`);
  }
}

/** What a test needs that is not here, from its name: `(needs bubblewrap)`, `(Linux)`, `(root)`, `(not root)`. */
function needOf(name: string): string {
  const [, need] = /\((needs [^()]+|Linux|root|not root|Postgres [^()]+)\)/.exec(name) ?? [];
  if (need === undefined) return "without a reason in their name";
  return need.startsWith("needs ") ? need.replace("needs", "need") : `for ${need}`;
}

/** A test's name says which machines and users have what it needs. */
function isForOthers(why: string): boolean {
  const isRoot = process.getuid?.() === 0;
  return (
    (why === "for Linux" && process.platform !== "linux") ||
    (why === "for root" && !isRoot) ||
    (why === "for not root" && isRoot)
  );
}

function minutes(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
