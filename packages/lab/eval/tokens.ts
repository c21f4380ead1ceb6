// npm run eval -- tokens [--from FOLDER]: what the agent's requests hold, replayed on real documentation.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAgentWithReview } from "@emend/agent";
import { createLogger } from "@emend/base/logger.ts";
import { createContentJudge, createPageReader, refusedBy, reviewChange } from "@emend/review";
import { createParseCache } from "@emend/site";
import { makeRepository } from "@emend/testkit/make-repository.ts";
import { type CommitTree, createGit, createMirrors, createOverlay, type Overlay } from "@emend/tree";
import type { AgentTask, Model, Step } from "../../agent/src/agent.ts";
import { describeTools } from "../../agent/src/tools/registry.ts";
import { cloneOf, sites } from "./real-sites.ts";
import type { TokenRound, TokenTask } from "./task.ts";
import { tokenTasks } from "./token-tasks.ts";

interface Row {
  round: TokenRound;
  turns: number;
  tokens: number;
  problems: readonly string[];
}

const limits = { stepsMax: 60, tokensMax: 2e6, costUsdMax: 9, wallTimeMsMax: 1.2e6, toolOutputBytesMax: 32_768 };
const policy = { docsDir: "", allowedPaths: [], filesMax: 1_000, bytesMax: 10_000_000 };
const results = join(import.meta.dirname, "../../../docs/results.md");
const [start, end] = ["<!-- npm run eval -- tokens writes from here -->", "<!-- to here -->"];

/** Replays every task, prints the table and writes it into docs/results.md. False: an answer no longer does its work. */
export async function measureTokens(
  options: { cacheDir: string; from: string | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), "emend-tokens-"));
  const git = createGit({ allowedProtocols: ["file"] });
  const mirrors = createMirrors({ dir: join(dir, "mirrors"), git, log: createLogger({ level: "silent" }), limits: {} });
  const open = async (name: string, url: string) => {
    const mirror = await mirrors.open(name);
    const remote = { url, authorization: null };
    return mirror.treeAt((await mirror.fetchBase({ remote, jobId: "job_tokens", baseRef: null }, signal)).commit);
  };
  const rows: Row[] = [];
  try {
    const base = await open("prj_docs", `file://${await cloneOf(sites.mintlify, options)}`);
    const tools = { pageReader: createPageReader(), siteCache: createParseCache() };
    for (const [index, task] of tokenTasks.entries()) {
      const repository = makeRepository(join(dir, `context-${index}.git`));
      repository.commit(task.context);
      const context = await open(`prj_context${index}`, repository.url);
      for (const row of await replay({ base, context, ...tools }, task, signal)) {
        const { round, turns, tokens, problems } = row;
        console.error(`${problems.length === 0 ? "✓" : "✗"} ${round.name}: ${turns} turns, ${tokens} tokens`);
        for (const problem of problems) console.error(`    ${problem}`);
        rows.push(row);
      }
    }
  } finally {
    await mirrors.close();
    await rm(dir, { recursive: true, force: true });
  }
  const table = formatTokens(rows);
  console.log(table);
  const isRight = rows.every(({ problems }) => problems.length === 0);
  if (isRight) await keepTable(table);
  return isRight;
}

type Site = { base: CommitTree; context: CommitTree } & {
  pageReader: ReturnType<typeof createPageReader>;
  siteCache: ReturnType<typeof createParseCache>;
};

/** One job: its rounds one after the other, each with the steps of those before. */
async function replay(site: Site, task: TokenTask, signal: AbortSignal): Promise<readonly Row[]> {
  const overlay = await createOverlay(site.base);
  const steps: Step[] = [];
  const followUps: { prompt: string; afterStep: number }[] = [];
  const rows: Row[] = [];
  const asked: string[] = [];
  for (const round of task.rounds) {
    asked.push(round.prompt);
    const last = steps.at(-1);
    if (last) followUps.push({ prompt: round.prompt, afterStep: last.number });
    const counted = recordedModel(round);
    const { outcome, verdict } = await runAgentWithReview(
      {
        model: counted.model,
        limits,
        siteCache: site.siteCache,
        secondReader: counted.model,
        refusePath: (path) => refusedBy(policy, path),
        vetting: createContentJudge(site.base, { policy, asked }, site),
        saveStep: async (step) => void steps.push(step),
        review: (words) => reviewChange({ ...site, overlay, policy, asked, ...words }, signal),
      },
      {
        jobId: "job_tokens",
        prompt: task.rounds[0]?.prompt ?? "",
        followUps: [...followUps],
        docsDir: "",
        base: site.base,
        overlay,
        context: { names: ["cli"], open: async () => site.context },
        steps: [...steps],
        subjects: [],
      } satisfies AgentTask,
      signal,
    );
    const kind = round.changed === 0 ? "unchanged" : "finished";
    const problems = [
      ...(outcome.kind === kind ? [] : [`the round ended as ${outcome.kind}`]),
      ...(verdict === null || verdict.kind === "passed" ? [] : [`its review says ${verdict.kind}`]),
      ...(await judge(round, overlay)),
    ];
    rows.push({ round, ...counted.used(), problems });
  }
  return rows;
}

/** Says what was recorded, then confirms. A token is four characters of the request. */
function recordedModel({ turns: script }: TokenRound): { model: Model; used(): Pick<Row, "turns" | "tokens"> } {
  let [turns, characters] = [0, 0];
  const model: Model = {
    name: "recorded",
    nature: "language",
    contextTokensMax: 200_000,
    async nextTurn({ system, messages, tools }) {
      const request = system.length + JSON.stringify(tools).length + JSON.stringify(messages).length;
      characters += request;
      const calls = script[turns] ?? [["finish", {}] as const];
      turns += 1;
      const toolCalls = calls.map(([name, input], index) => ({ id: `c${turns}_${index}`, name, input }));
      const inputTokens = Math.round(request / 4);
      return {
        text: "",
        toolCalls,
        usage: { model: "recorded", inputTokens, outputTokens: 1, cachedInputTokens: 0, costUsd: 0 },
      };
    },
  };
  return { model, used: () => ({ turns, tokens: Math.round(characters / 4) }) };
}

async function judge({ changed, holds = [], lacks = [] }: TokenRound, overlay: Overlay): Promise<readonly string[]> {
  const files = overlay.entries().length;
  const read = async (path: string) => (await overlay.read(path))?.toString() ?? "";
  const problems = files === changed ? [] : [`it changed ${files} files, not ${changed}`];
  for (const [path, text] of holds) {
    if (!(await read(path)).includes(text)) problems.push(`${path} does not say ${JSON.stringify(text)}`);
  }
  for (const [path, text] of lacks) {
    if ((await read(path)).includes(text)) problems.push(`${path} says ${JSON.stringify(text)}`);
  }
  return problems;
}

function formatTokens(rows: readonly Row[]): string {
  const number = (value: number) => value.toLocaleString("en");
  const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0);
  const line = (name: string, figures: readonly number[]) => `| ${name} | ${figures.map(number).join(" | ")} |`;
  const schemas = Math.round(describeTools().reduce((total, tool) => total + JSON.stringify(tool).length, 0) / 4);
  return [
    "| task | turns before | tokens in before | turns of a shell | tokens in of a shell | turns now | tokens in now |",
    "|---|---:|---:|---:|---:|---:|---:|",
    ...rows.map(({ round: { name, before, shell }, turns, tokens }) =>
      line(name, [before.turns, before.tokens, shell.turns, shell.tokens, turns, tokens]),
    ),
    line("all", [
      sum(({ round }) => round.before.turns),
      sum(({ round }) => round.before.tokens),
      sum(({ round }) => round.shell.turns),
      sum(({ round }) => round.shell.tokens),
      sum(({ turns }) => turns),
      sum(({ tokens }) => tokens),
    ]),
    "",
    `Of every turn the tools' schemas were 2,249 tokens (18 tools) and are ${number(schemas)} (${describeTools().length} tools).`,
  ].join("\n");
}

async function keepTable(table: string): Promise<void> {
  const text = await readFile(results, "utf8");
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/results.md has no place for the table: ${start} … ${end}`);
  await writeFile(results, `${text.slice(0, from + start.length)}\n\n${table}\n\n${text.slice(to)}`);
}
