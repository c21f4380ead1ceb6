// The harness's own time between a model's answer and the next request, on a site of 1,000 pages: vetting, tools, storing.
// Beside one `git grep` of the same repository in the same run. Aim: p50 ≤ 150 ms. Also what the tools cost a turn.
// npm run bench -- agent [--write]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Model, runAgentWithReview, type Step } from "@emend/agent";
import { createLogger } from "@emend/base/logger.ts";
import { createContentJudge, createPageReader, refusedBy, reviewChange } from "@emend/review";
import { createParseCache } from "@emend/site";
import { makeRepository } from "@emend/testkit/make-repository.ts";
import { createGit, createMirrors, createOverlay } from "@emend/tree";
import { describeTools } from "../../agent/src/tools/registry.ts";
import { generateSite } from "../../site/bench/generate.ts";
import { writeResults } from "../../site/bench/results.ts";
import { median } from "./measure.ts";

const pages = 1_000;
const rounds = 12;
const dir = mkdtempSync(join(tmpdir(), "emend-bench-agent-"));
const repository = makeRepository(join(dir, "docs.git"));
repository.commit(Object.fromEntries([...generateSite(pages)].map(({ path, content }) => [path, content])));
const git = createGit({ allowedProtocols: ["file"] });
const mirrors = createMirrors({ dir: join(dir, "mirrors"), git, log: createLogger({ level: "silent" }), limits: {} });
const mirror = await mirrors.open("prj_bench");
const { signal } = new AbortController();
const remote = { url: repository.url, authorization: null };
const { commit } = await mirror.fetchBase({ remote, jobId: "job_bench", baseRef: null }, signal);
const base = mirror.treeAt(commit);
const overlay = await createOverlay(base);
const policy = { docsDir: "", allowedPaths: [], filesMax: 1_000, bytesMax: 10_000_000 };
const prompt = "Improve the docs.";
const pageReader = createPageReader();
const siteCache = createParseCache();

const path = (number: number) => `section-${Math.floor(number / 50)}/page-${number}.mdx`;
const script = Array.from({ length: rounds }, (_, round): [string, unknown][] => {
  const number = 37 * round + 1;
  const choices: [string, unknown][] = [
    ["search", { pattern: "release report", ignoreCase: true }],
    ["read_file", { paths: [path(number)] }],
    ["set_front_matter", { page: path(number), field: "description", value: `Round ${round}` }],
    [
      "write_file",
      {
        path: `section-1/new-${round}.mdx`,
        content: `---\ntitle: New ${round}\n---\n\nSee [one](/${path(number).slice(0, -4)}).\n`,
      },
    ],
    ["check", {}],
    ["list_files", { show: "titles", under: path(number) }],
  ];
  return choices;
}).flat();

const gaps = new Map<string, number[]>();
let answeredAt: number | null = null;
let last = "";
let turn = 0;
const model: Model = {
  name: "bench/model",
  nature: "language",
  contextTokensMax: 200_000,
  async nextTurn() {
    if (answeredAt !== null) gaps.set(last, [...(gaps.get(last) ?? []), performance.now() - answeredAt]);
    const [name, input] = script[turn] ?? ["finish", { title: "Improve", summary: "Improved." }];
    turn += 1;
    last = name;
    answeredAt = performance.now();
    const usage = { model: "bench/model", inputTokens: 10, outputTokens: 1, cachedInputTokens: 0, costUsd: 0 };
    return { text: "", toolCalls: [{ id: `c${turn}`, name, input }], usage };
  },
};

try {
  await runAgentWithReview(
    {
      model,
      limits: { stepsMax: 200, tokensMax: 1e9, costUsdMax: 9, wallTimeMsMax: 600_000, toolOutputBytesMax: 32_768 },
      siteCache,
      refusePath: (one) => refusedBy(policy, one),
      vetting: createContentJudge(base, { policy, asked: [prompt] }, { pageReader }),
      saveStep: async (_step: Step) => {},
      review: (words) =>
        reviewChange({ base, overlay, policy, siteCache, pageReader, asked: [prompt], ...words }, signal),
    },
    { jobId: "job_bench", prompt, docsDir: "", base, overlay, steps: [] },
    signal,
  );
  const greps = Array.from({ length: 10 }, () => {
    const startedAt = performance.now();
    spawnSync("git", ["--git-dir", repository.path, "grep", "-n", "release report", "main", "--"]);
    return performance.now() - startedAt;
  });
  // The first call of each tool opens the site or loads a parser.
  const warm = [...gaps.values()].flatMap((times) => times.slice(1));
  const row = (name: string, times: number[]) => `| ${name} | ${median(times).toFixed(0)} ms |`;
  const table = [
    `| a site of ${pages.toLocaleString("en")} pages | p50 |`,
    "|---|---:|",
    row("an answer → the next request (aim 150 ms)", warm),
    ...[...gaps].map(([name, times]) => row(`after \`${name}\``, times.slice(1))),
    row("one `git grep` of the same repository in the same run", greps),
  ];
  for (const line of table) console.log(line);
  if (process.argv.includes("--write")) await writeResults("agent turns", "npm run bench -- agent --write", { table });
  const tokens = describeTools().reduce((sum, tool) => sum + JSON.stringify(tool).length, 0) / 4;
  console.log(`${describeTools().length} tools, ${Math.round(tokens)} tokens a turn (characters / 4)`);
} finally {
  await mirrors.close();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);
