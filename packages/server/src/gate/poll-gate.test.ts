import { join } from "node:path";
import type { CommitStatus, Forge } from "@emend/forges";
import { personGit } from "@emend/testkit/forge.ts";
import { cli, docs, type GateBench, openGateBench } from "@emend/testkit/gate-bench.ts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { listStatuses as listLocalStatuses } from "../forge/local/pull-requests.ts";
import { getStatus, holdStatus, listStatuses, recordSentStatus, saveVerdict } from "./gate-store.ts";
import { pollGate } from "./poll-gate.ts";

let bench: GateBench;
beforeAll(async () => {
  bench = await openGateBench();
});
afterAll(() => bench.close());
beforeEach(() => bench.reset());

it("says what a person's pull request breaks, with each page and line, and passes once it is mended", async () => {
  await bench.set({ docs: "failing" });
  const broken = await bench.openPull(docs, bench.work, "topic/break", { "index.md": "# Home\n\n[Guide](gone.md)\n" });
  await bench.look();
  const failed = await bench.onlyStatus();
  expect(failed).toMatchObject({
    head: broken.head,
    state: "failed",
    words: "1 new problem on 1 page.",
    findings: [{ check: "broken-link", severity: "error", path: "index.md", line: 3 }],
    refusal: null,
  });
  expect(await listLocalStatuses(bench.host.database.pool, docs, broken.head)).toMatchObject([
    { name: "emend", state: "failed", url: `https://emend.test/app/gates/${failed.id}` },
  ]);
  const mended = await bench.write(bench.work, { "index.md": "# Home\n\n[The guide](guide.md)\n" });
  await bench.push(docs, bench.work, "topic/break");
  await bench.look();
  expect(await listLocalStatuses(bench.host.database.pool, docs, mended)).toMatchObject([{ state: "passed" }]);
});

it("does not block where the project says neutral, and says nothing where it says off", async () => {
  await bench.openPull(docs, bench.work, "topic/neutral", { "index.md": "[Guide](gone.md)\n" });
  await bench.set({ docs: "off" });
  await bench.look();
  expect(await listStatuses(bench.host.database.pool, docs)).toEqual([]);
  await bench.set({});
  await bench.look();
  expect(await bench.onlyStatus()).toMatchObject({ state: "neutral", words: "Not blocking: 1 new problem on 1 page." });
});

it("sets an unchanged status once, and again when the project's setting changes", async () => {
  await bench.openPull(docs, bench.work, "topic/once", { "index.md": "[Guide](gone.md)\n" });
  const far = bench.listening(docs);
  for (let time = 0; time < 3; time += 1) await bench.look(far);
  expect(far.told.map(({ state }) => state)).toEqual(["neutral"]);
  await bench.set({ docs: "failing" });
  await bench.look(far);
  expect(far.told.map(({ state }) => state)).toEqual(["neutral", "failed"]);
});

it("sends nothing once another node has taken the lease", async () => {
  await bench.openPull(docs, bench.work, "topic/overtaken", { "index.md": "[Guide](gone.md)\n" });
  const far = bench.listening(docs);
  const { pool } = bench.host.database;
  const query = async (sql: string, values?: unknown[]) => {
    if (sql.startsWith("update gate_statuses set state"))
      await pool.query("update gate_statuses set lease = gen_random_uuid()");
    return pool.query(sql, values);
  };
  await bench.look({ ...far, pool: Object.create(pool, { query: { value: query } }) });
  expect(far.told).toEqual([]);
  expect((await bench.onlyStatus()).findings).toEqual([]);
});

it("takes its settings from the base: a pull request cannot turn off the checks that judge it", async () => {
  await bench.set({ docs: "failing" });
  await bench.openPull(docs, bench.work, "topic/settings", {
    "index.md": "[Guide](gone.md)\n",
    ".emend/check.json": '{"checks":{"broken-link":"off"}}',
  });
  await bench.look();
  expect(await bench.onlyStatus()).toMatchObject({ state: "failed" });
});

it("takes them from the newest commit of the branch that a pull request wants to change, not from where it began", async () => {
  await bench.set({ docs: "failing" });
  const settings = async (files: Readonly<Record<string, string>>) => {
    await personGit(bench.work, "switch", "--quiet", "main");
    await bench.write(bench.work, files);
    await bench.push(docs, bench.work, "main");
    await bench.look();
    return (await bench.onlyStatus()).findings.map(({ check, message }) => `${check} ${message}`);
  };
  const check = (checks: object) => ({ ".emend/check.json": JSON.stringify({ checks }) });
  // It begins where links are not checked, and brings words of its own.
  await personGit(bench.work, "switch", "--quiet", "main");
  await bench.write(bench.work, check({ "broken-link": "off" }));
  await bench.push(docs, bench.work, "main");
  await bench.openPull(docs, bench.work, "topic/old", {
    "index.md": "# Home\n\n[Guide](gone.md) and a wrod.\n",
    ".emend/dictionary.txt": "wrod\n",
  });
  await bench.look();
  expect((await bench.onlyStatus()).state).toBe("passed");
  // While the repository is away, the verdict stays.
  const away = new AppError("repository_unavailable", { publicMessage: "Away.", retryable: true });
  await bench.look({ mirrors: { ...bench.mirrors, open: () => Promise.reject(away) } });
  expect([(await bench.onlyStatus()).state, await bench.problemOf(null)]).toEqual(["passed", "Away."]);
  expect(await settings(check({}))).toEqual([expect.stringMatching(/^broken-link /)]);
  expect(await settings(check({ "broken-link": "off", spelling: "error" }))).toEqual([
    expect.stringMatching(/^spelling .*wrod/),
  ]);
  expect(await settings({ ".emend/dictionary.txt": "wrod\n" })).toEqual([]);
  await settings({ ...check({}), ".emend/dictionary.txt": "\n" });
});

it("keeps the reason where the forge refuses a status, and tells it again later", async () => {
  await bench.openPull(docs, bench.work, "topic/refused", { "guide.md": "# A guide\n" });
  let refusal: AppError | null = new AppError("forge_rejected", { publicMessage: "The token may not set statuses." });
  const far = bench.listening(docs, () => refusal);
  await bench.look(far);
  expect(await bench.onlyStatus()).toMatchObject({
    state: "passed",
    sent: null,
    refusal: "The token may not set statuses.",
  });
  expect(await bench.problemOf(null)).toBe("The token may not set statuses.");
  refusal = null;
  await bench.look(far);
  expect(await bench.onlyStatus()).toMatchObject({ refusal: null });
  expect(far.told).toHaveLength(1);
  expect(await bench.problemOf(null)).toBeNull();
});

it("lets its task be retried after a 502 on a status, instead of waiting for the next poll", async () => {
  await bench.openPull(docs, bench.work, "topic/bad-gateway", { "guide.md": "# A guide\n" });
  let answer: AppError | null = new AppError("forge_unavailable", { publicMessage: "502.", retryable: true });
  const far = bench.listening(docs, () => answer);
  await expect(bench.look(far)).rejects.toMatchObject({ publicMessage: "502." });
  answer = null;
  await bench.look(far);
  expect(await bench.onlyStatus()).toMatchObject({ state: "passed", refusal: null });
  expect(far.told).toHaveLength(1);
});

it("waits as long as a forge asks for", async () => {
  await bench.openPull(docs, bench.work, "topic/limited", { "guide.md": "# A guide\n" });
  let asked = 0;
  const limit = { publicMessage: "Too many requests.", retryable: true, retryAfterMs: 60_000, isRateLimit: true };
  const far = bench.listening(docs, () => {
    asked += 1;
    return new AppError("forge_unavailable", limit);
  });
  // The task is kept, and tries again then.
  await expect(bench.look(far)).rejects.toMatchObject({ retryAfterMs: 60_000 });
  await bench.look(far);
  expect(asked).toBe(1);
  expect(await bench.problemOf(null)).toBe("Too many requests.");
});

it("never reports success for a commit that it could not read", async () => {
  const { head } = await bench.openPull(docs, bench.work, "topic/vanished", { "guide.md": "# A guide\n" });
  const forge = bench.host.open(docs);
  const gone = { ...forge, readPullRequestCommits: async () => ({ head: "1".repeat(40), base: head }) };
  await bench.look({ openForge: async () => gone });
  expect(await bench.onlyStatus()).toMatchObject({
    state: "pending",
    judgedFrom: null,
    words: expect.stringMatching(/^Not checked: /),
  });
  await bench.host.database.pool.query("delete from gate_statuses");
  await bench.look({ openForge: async () => ({ ...forge, readPullRequestCommits: async () => null }) });
  expect(await bench.onlyStatus()).toMatchObject({
    state: "pending",
    words: expect.stringContaining("has not checked"),
  });
  // The obstacle is removed: the next check runs without a request.
  await bench.look();
  expect(await bench.onlyStatus()).toMatchObject({ state: "passed" });
});

it("has one status for a head and a name, however many projects and nodes report", async () => {
  await bench.openPull(docs, bench.work, "topic/shared", { "guide.md": "# A guide\n" });
  await Promise.all([bench.look(), bench.look(), bench.look()]);
  const [status] = await listStatuses(bench.host.database.pool, docs);
  if (!status) throw new Error("no status");
  const subject = { projectId: "prj_second", contextId: null, repository: "local prj_docs.git", name: "emend" };
  await bench.host.addProject("prj_second");
  const [pull] = await bench.host.open(docs).listOpenPullRequests(bench.host.signal);
  if (!pull) throw new Error("no pull request");
  expect(await holdStatus(bench.host.database.pool, subject, status.head, pull)).toBeNull();
  expect(
    await holdStatus(bench.host.database.pool, { ...subject, name: "emend/second" }, status.head, pull),
  ).not.toBeNull();
  expect(await listStatuses(bench.host.database.pool, docs)).toHaveLength(1);
});

it("fences a slow node: it writes no verdict, and its status on the forge is set again", async () => {
  await bench.openPull(docs, bench.work, "topic/slow", { "guide.md": "# A guide\n" });
  await bench.look();
  const { pool } = bench.host.database;
  const status = await bench.onlyStatus();
  const [pull] = await bench.host.open(docs).listOpenPullRequests(bench.host.signal);
  if (!pull) throw new Error("no pull request");
  const subject = { projectId: docs, contextId: null, repository: "local prj_docs.git", name: "emend" };
  const slow = await holdStatus(pool, subject, status.head, pull);
  const fast = await holdStatus(pool, subject, status.head, pull);
  if (!slow || !fast) throw new Error("not held");
  const verdict = { state: "failed", words: "Old.", findings: [], judgedFrom: "old" } as const;
  expect(await saveVerdict(pool, slow, verdict)).toBe(false);
  await recordSentStatus(pool, fast, { sent: "passed New.", refusal: null });
  await recordSentStatus(pool, slow, { sent: "failed Old.", refusal: null });
  expect(await getStatus(pool, status.id)).toMatchObject({ state: "passed", sent: null });
});

it("covers every pull request of a head with one status, and looks again when one gets another base", async () => {
  await bench.set({ docs: "failing" });
  await bench.push(docs, bench.work, "main:same");
  await personGit(bench.work, "switch", "--quiet", "--force-create", "release", "main");
  await bench.write(bench.work, { "gone.md": "# Gone\n" });
  await bench.push(docs, bench.work, "release");
  const { head } = await bench.openPull(docs, bench.work, "topic/both", { "index.md": "# Home\n\n[Guide](gone.md)\n" });
  const forge = bench.host.open(docs);
  const [pull] = await forge.listOpenPullRequests(bench.host.signal);
  if (!pull) throw new Error("no pull request");
  const release = await personGit(bench.work, "rev-parse", "release");
  const bases: Record<string, string> = { main: await personGit(bench.work, "rev-parse", "main"), release };
  // On this branch, the head itself is the base: nothing is new.
  bases.same = head;
  const far = bench.listening(docs);
  const at = (...names: string[]) =>
    bench.look({
      openForge: async () => ({
        ...(await far.openForge()),
        listOpenPullRequests: async () => names.map((base, index) => ({ ...pull, base, number: index + 1 })),
        readPullRequestCommits: async ({ base }) => ({ head, base: bases[base] ?? "" }),
      }),
    });
  await at("same");
  await at("same", "main");
  await at("main", "same");
  await at("same");
  expect(far.told.map(({ state }) => state)).toEqual(["passed", "failed", "passed"]);
  expect(await bench.onlyStatus()).toMatchObject({ head });
});

it("continues after a refused status, and explains why a fork on a separate forge has none", async () => {
  await bench.openPull(docs, bench.work, "topic/last", { "guide.md": "# A guide\n" });
  const forge = bench.host.open(docs);
  const [pull] = await forge.listOpenPullRequests(bench.host.signal);
  if (!pull) throw new Error("no pull request");
  const others = [1, 2, 3, 4].map((digit) => ({ ...pull, number: 90 + digit, headCommit: String(digit).repeat(40) }));
  const told: string[] = [];
  const openForge = async (): Promise<Forge> => ({
    ...forge,
    listOpenPullRequests: async () => [...others, pull],
    readPullRequestCommits: async (one, signal) => (one.number > 90 ? null : forge.readPullRequestCommits(one, signal)),
    async setStatus({ commit }) {
      told.push(commit);
      if (commit !== pull.headCommit) throw new AppError("forge_rejected", { publicMessage: "No such commit." });
      return null;
    },
  });
  await bench.look({ openForge });
  expect(told).not.toContain(pull.headCommit);
  await bench.look({ openForge });
  expect(told).toContain(pull.headCommit);
  told.length = 0;
  const isFork = async (): Promise<Forge> => ({
    ...(await openForge()),
    listOpenPullRequests: async () => others.map((one) => ({ ...one, isFork: true })),
    forkLimit: "The branch is in a fork.",
  });
  await bench.look({ openForge: isFork });
  expect(told).toEqual([]);
  const found = (await listStatuses(bench.host.database.pool, docs)).filter(({ number }) => number > 90);
  expect(found.map(({ state, words }) => `${state} ${words}`)).toEqual(
    others.map(() => "pending Not checked: The branch is in a fork."),
  );
  expect(await bench.problemOf(null)).toBeNull();
});

it("sets a status at every check where pipelines replace each other, and says why a pull request shows none", async () => {
  await bench.openPull(docs, bench.work, "topic/piped", { "guide.md": "# A guide\n" });
  const forge = bench.host.open(docs);
  let hidden: string | null = "There is no place for it.";
  const told: CommitStatus[] = [];
  const openForge = async (): Promise<Forge> => ({
    ...forge,
    movesStatuses: true,
    async setStatus(status) {
      told.push(status);
      if (hidden === "refused") throw new AppError("forge_rejected", { publicMessage: "Refused." });
      if (hidden === "busy") throw new AppError("forge_rejected", { publicMessage: "Busy.", retryable: true });
      return hidden;
    },
  });
  for (let time = 1; time <= 2; time += 1) {
    await bench.look({ openForge });
    expect(told).toHaveLength(time);
    expect(await bench.onlyStatus()).toMatchObject({ refusal: hidden, sent: expect.any(String) });
    expect(await bench.problemOf(null)).toBeNull();
  }
  const { updatedAt } = await bench.onlyStatus();
  hidden = "refused";
  await bench.look({ openForge });
  expect([await bench.problemOf(null), (await bench.onlyStatus()).updatedAt]).toEqual(["Refused.", updatedAt]);
  // GitLab answers 409 while another request changes the same pipeline: the task is retried.
  hidden = "busy";
  await expect(bench.look({ openForge })).rejects.toMatchObject({ publicMessage: "Busy." });
  hidden = null;
  await bench.look({ openForge });
  expect(await bench.onlyStatus()).toMatchObject({ refusal: null });
  expect(told.at(-1)).toEqual(told[0]);
});

it("sees what code beside the docs renames in one repository", async () => {
  const mono = "prj_mono";
  const dir = join(bench.host.dir, "mono");
  await bench.commitAll(dir, { "src/cli.ts": cli("--out-file"), "docs/run.md": "# Run\n\n`--out-file`\n" });
  await bench.host.addProject(mono, dir);
  await bench.host.database.pool.query("update projects set docs_dir = 'docs' where id = $1", [mono]);
  await bench.openPull(mono, dir, "topic/mono", { "src/cli.ts": cli("--output-file") });
  await pollGate(bench.depsOf(), mono, bench.host.signal);
  expect(await listStatuses(bench.host.database.pool, mono)).toMatchObject([
    { state: "neutral", findings: [{ check: "stale-reference", path: "docs/run.md", line: 3 }] },
  ]);
});

it("reports samples that a docs pull request breaks, and none that were broken before", async () => {
  const old = '```json\n{"a" 1}\n```\n';
  await personGit(bench.work, "switch", "--quiet", "main");
  await bench.write(bench.work, { "guide.md": `# Guide\n\n${old}` });
  await bench.push(docs, bench.work, "main");
  await bench.openPull(docs, bench.work, "topic/samples", {
    "guide.md": `# Guide\n\nMore.\n\n${old}\n\`\`\`toml\na =\n\`\`\`\n`,
  });
  await bench.look();
  expect((await bench.onlyStatus()).findings).toMatchObject([
    { check: "sample-syntax", severity: "warning", path: "guide.md" },
  ]);
});
