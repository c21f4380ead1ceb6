// Costly: only a killed process loses what was in memory alone.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { publishCrashPoints } from "@emend/publish";
import { type FarModel, protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { type FarSlack, mentionOfEmend, startFarSlack } from "@emend/testkit/far-slack.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { giteaVendor } from "@emend/testkit/forges/gitea.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { gitlabVendor } from "@emend/testkit/forges/gitlab.ts";
import { freePort } from "@emend/testkit/listen.ts";
import { makePng } from "@emend/testkit/pictures.ts";
import { runProgram } from "@emend/testkit/run-program.ts";
import { clientOf, createInstallation, type Installation } from "@emend/testkit/whole-server.ts";
import { expireLeases } from "@emend/testkit/worker-control.ts";
import { afterEach, expect, test } from "vitest";
import { insertReply, insertThread, listThreads } from "../../src/forge/local/review-threads.ts";
import { hastenPoll } from "../../src/jobs/pull-requests.ts";
import type { CrashPoint } from "../../src/run/crash-points.ts";

/** What a run passes, from its claim to its first turn. */
const beginning = ["after-claim", "after-load", "after-tree-opened", "after-base-pinned"] as const;
const step = ["before-step-stored", "after-step-stored"] as const;
const ending: readonly CrashPoint[] = [
  "before-review",
  "after-review",
  "before-change-stored",
  "after-change-stored",
  "before-base-taken-in",
  "after-base-taken-in",
  // A node that dies before it opens the pull request leaves the next one to wait for minutes: see crash-matrix.test.ts.
  ...publishCrashPoints.filter((point) => point !== "before-create"),
  "before-pull-request-stored",
  "after-pull-request-stored",
  "before-end",
  "after-end",
];
/** Of a round on a pull request that is open. */
const round = [...beginning, ...step, ...ending.filter((point) => point !== "after-create")];
const answer = ["before-answer-sent", "after-answer-sent"] as const;

/** What happens between two words of the person: there, the node that works is killed. */
const kills = {
  question: [...beginning, ...step, "before-question-told", "after-question-told"],
  answer: ["after-interjections-read", ...step],
  interjection: ["after-interjections-read", ...step, ...ending],
  ci: ["before-repair-round", "after-repair-round", ...round, ...answer],
  review: ["before-comment-heard", "after-comment-heard", ...round, ...answer],
  reply: [...answer, ...round, "before-comment-heard", "after-comment-heard"],
  message: round,
} satisfies Record<string, readonly CrashPoint[]>;
type Turn = keyof typeof kills;
/** What a message passes besides if it is written in a chat. */
const heardInChat = ["after-chat-stored", "before-chat-job", "after-chat-job"] as const;
const chatKills: Partial<Record<Turn, readonly CrashPoint[]>> = {
  question: [...heardInChat, "before-chat-post", "after-chat-post"],
  answer: heardInChat,
  interjection: heardInChat,
  message: heardInChat,
};
const rowsMax = Math.max(...Object.values(kills).map((points) => points.length));

const vendors = { github: githubVendor, gitlab: gitlabVendor, gitea: giteaVendor };
const forges = ["local", "github", "gitlab", "gitea"] as const;
/** There, the person talks in a thread of Slack: the request with its picture, the answer and both messages. */
const chatForge = "gitlab";
/** `npm run crash-matrix` has each row on every forge. Here each row has one forge, and each forge has its share of the rows. */
const isWhole = process.env.EMEND_CRASH_MATRIX === "whole";
const cells = Array.from({ length: rowsMax }, (_, row) =>
  forges.map((forge) => ({ forge, row })).filter((_cell, at) => isWhole || at === row % forges.length),
).flat();

let installation: Installation;
let model: FarModel;
let far: FarEnd | null = null;
let slack: FarSlack | null = null;
let node: ChildProcess | null = null;
afterEach(async () => {
  await kill();
  await installation.remove();
  await model.stop();
  await far?.close();
  await slack?.stop();
  far = null;
  slack = null;
});

async function kill(): Promise<void> {
  if (node && node.exitCode === null && node.signalCode === null) {
    node.kill("SIGKILL");
    await once(node, "exit");
  }
  node = null;
}

const start = "guides/start.md";
const other = "guides/other.md";
const docs = { [start]: "# Start\n\nUse your API token.\n", [other]: "# Other\n\nNothing here.\n" };
const picture = "guides/form.png";
const shown = `![The form](form.png)`;
type Request = FarModel["requests"][number];
type Edit = [name: string, input: Record<string, unknown>];

const edit = (path: string, oldText: string, newText: string): Edit => ["edit_file", { path, oldText, newText }];

/** What is to be done once something was said, in this order. */
const duties: readonly { said: string; calls: (text: string) => Edit[] }[] = [
  { said: "access key", calls: () => [edit(start, "API token", "acess key")] },
  {
    said: "And write a note",
    calls: (text) => [
      ["add_picture", { id: /upl_\w+(?=: form\.png)/.exec(text)?.[0] ?? "", path: picture }],
      edit(other, "Nothing here.", `A note.\n\n${shown}`),
    ],
  },
  { said: "unknown word: acess", calls: () => [edit(start, "acess", "access")] },
  { said: "say it shorter", calls: () => [edit(start, "Use your access key.", "Use a key.")] },
  { said: "and name it", calls: () => [edit(start, "Use a key.", "Use a Key.")] },
  { said: "Say that it is short", calls: () => [edit(other, "A note.", "A short note.")] },
];

/** Its answer depends on the conversation only: it asks, waits for the second message, and does what was said. */
function script(turn: number, { messages }: Request) {
  const text = JSON.stringify(messages);
  const made = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.function.arguments);
  if (turn === 0) return [["ask", { question: "What is the key called?" }]] satisfies Edit[];
  for (const { said, calls } of duties) {
    const due = calls(text).filter(([, input]) => !made.some((done) => done === JSON.stringify(input)));
    if (text.includes(said) && due.length > 0) return due;
    // The person says it while the job works.
    if (!text.includes("And write a note")) return waitFor(turn);
  }
  return [["finish", { title: "Name the key", summary: "Named it.", reply: "Did it." }]] satisfies Edit[];
}

function waitFor(turn: number) {
  const toolCalls = [
    { id: `call_w${turn}`, name: "read_file", arguments: JSON.stringify({ paths: [`${other}:${turn}-`] }) },
  ];
  return { response: { toolCalls }, options: { latency: 500 } };
}

/** Says and does on the forge what people do there. */
interface People {
  head(): Promise<string>;
  read(path: string): Promise<string>;
  failCi(commit: string): Promise<void>;
  passCi(commit: string): Promise<void>;
  comment(text: string): Promise<void>;
  reply(text: string): Promise<void>;
  merge(): Promise<void>;
  /** Emend's: those in the thread, and others. */
  answers(): Promise<{ thread: readonly string[]; whole: readonly string[] }>;
  /** Branches of jobs, and pull requests. */
  published(): Promise<[branches: number, pulls: number]>;
}

const log = `${start}:3 unknown word: acess`;
const firstLine = (body: string) => body.split("\n")[0] ?? "";

function peopleOn(end: FarEnd, branch: string): People {
  const { state } = end;
  const place = { pull: 1, author: "ada", path: start, line: 3 };
  const at = () => new Date().toISOString();
  const ci = (commit: string, how: "failed" | "passed") => {
    state.checks.push({ id: state.checks.length + 1, commit, name: "spelling", state: how, words: "", log });
  };
  return {
    head: async () => state.repository.git("rev-parse", `refs/heads/${branch}`),
    read: async (path) => state.repository.git("show", `refs/heads/${branch}:${path}`),
    failCi: async (commit) => ci(commit, "failed"),
    passCi: async (commit) => ci(commit, "passed"),
    comment: async (body) => void state.comments.push({ ...place, id: 1, body, at: at() }),
    async reply(body) {
      const review = end.vendor === "gitea" ? { review: 5001 } : {};
      state.comments.push({ ...place, ...review, id: 2000, body, replyTo: 1, at: at() });
    },
    async merge() {
      for (const pull of state.pulls) pull.state = "merged";
    },
    async answers() {
      const own = state.comments.filter(({ author }) => author === "emend");
      const isReply = ({ replyTo }: { replyTo?: number }) => replyTo === 1;
      const said = (all: typeof own) => all.map(({ body }) => firstLine(body));
      return { thread: said(own.filter(isReply)), whole: said(own.filter((one) => !isReply(one))) };
    },
    async published() {
      const branches = state.repository.git("for-each-ref", "--format=%(refname)", "refs/heads/emend/");
      return [branches.split("\n").filter(Boolean).length, state.pulls.length];
    },
  };
}

function peopleHere(own: { projectId: string; key: string; url: string; branch: string }): People {
  const { pool } = installation.database;
  const { projectId, key, url, branch } = own;
  const git = async (...args: string[]) => {
    const gitDir = join(installation.forgeDir, `${projectId}.git`);
    return (await runProgram("git", ["--git-dir", gitDir, "-c", "safe.bareRepository=all", ...args])).stdout.trim();
  };
  const post = async (path: string, form: Record<string, string>) => {
    const headers = { authorization: `Bearer ${key}` };
    const body = new URLSearchParams(form);
    return fetch(`${url}/forge/${projectId}/${path}`, { method: "POST", headers, body, redirect: "manual" });
  };
  const ci = async (commit: string, state: string) => {
    expect((await post(`statuses/${commit}`, { name: "spelling", state, log })).status).toBe(201);
  };
  const head = () => git("rev-parse", `refs/heads/${branch}`);
  const threads = () => listThreads(pool, projectId, 1);
  return {
    head,
    read: (path) => git("show", `refs/heads/${branch}:${path}`),
    failCi: (commit) => ci(commit, "failed"),
    passCi: (commit) => ci(commit, "passed"),
    async comment(text) {
      const commit = await head();
      const place = { side: "after", path: start, firstLine: 3, lastLine: 3, suggestion: null } as const;
      const thread = { ...place, commit, headCommit: commit, quoted: "", author: "console", text };
      await insertThread(pool, { projectId, number: 1 }, thread);
    },
    async reply(text) {
      const [thread] = await threads();
      await insertReply(pool, thread?.id ?? "", { author: "console", text });
    },
    merge: async () => expect((await post("pull/1/merge", {})).status).toBe(303),
    async answers() {
      const own = (all: readonly { author: string; body: string }[]) =>
        all.filter(({ author }) => author === "Emend").map(({ body }) => firstLine(body));
      const { rows } = await pool.query("select author, body from local_pull_request_comments order by created_at");
      return { thread: own((await threads()).flatMap(({ comments }) => comments)), whole: own(rows) };
    },
    async published() {
      const branches = await git("for-each-ref", "--format=%(refname)", "refs/heads/emend/");
      const { rowCount } = await pool.query("select from local_pull_requests");
      return [branches.split("\n").length, rowCount ?? 0];
    },
  };
}

/** Says something to the job itself. Resolves when it is accepted, or written: who dies before it heard it hears it again. */
interface Talk {
  request(prompt: string): Promise<unknown>;
  tell(prompt: string): Promise<unknown>;
  /** Once the job has ended. */
  goOn(prompt: string): Promise<unknown>;
  author: unknown;
}

function talkByApi(own: { url: string; projectId: string; key: string; client: ReturnType<typeof clientOf> }): Talk {
  const { url, projectId, key, client } = own;
  let id = "";
  const tell = async (prompt: string) => {
    expect((await client.send(`/job/${id}/message`, { prompt })).status).toBe(200);
  };
  return {
    async request(prompt) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "image/png" };
      const path = `${url}/v2/agent/${projectId}/upload?name=form.png`;
      const uploaded = await fetch(path, { method: "POST", headers, body: new Uint8Array(makePng()) });
      const upload = (await uploaded.json()) as { id: string };
      id = ((await client.send("/job", { prompt, files: [upload.id] })).json as { id: string }).id;
    },
    tell,
    goOn: tell,
    author: expect.stringMatching(/^key/),
  };
}

function talkInSlack(chat: FarSlack): Talk {
  const user = "U0ADA";
  let thread: string | undefined;
  const say = async (text: string, files: readonly string[] = []) => {
    // It is acknowledged by whoever lives then.
    void chat.say({ user, text, files, ...(thread && { thread }) });
    thread ??= chat.messages.at(-1)?.ts;
  };
  return {
    request: (prompt) => say(`${mentionOfEmend} ${prompt}`, ["form.png"]),
    tell: say,
    // After the end, people talk about the result.
    goOn: (prompt) => say(`${mentionOfEmend} ${prompt}`),
    author: "user/ada@example.com",
  };
}

async function openSlack(): Promise<FarSlack> {
  const chat = await startFarSlack();
  chat.people = { U0ADA: { email: "ada@example.com" } };
  chat.files = { "form.png": Buffer.from(makePng()) };
  return chat;
}

async function openProject(forge: (typeof forges)[number]) {
  slack = forge === chatForge ? await openSlack() : null;
  model = await startFarModel(script);
  const port = await freePort();
  const own = { EMEND_MODEL: protocols[0], EMEND_PUBLIC_URL: `http://127.0.0.1:${port}` };
  installation = await createInstallation({ ...model.environment, ...own, ...slack?.environment });
  const server = await installation.start({ role: "api", port });
  const chatChannels = slack ? ["slack/C0DOCS"] : [];
  const settings = { models: [...protocols], secondReader: false, ciRepairRounds: 2, chatChannels };
  await installation.database.pool.query(
    "insert into users (id, email, name, role, password_hash) values ('usr_ada', 'ada@example.com', 'Ada', 'maintainer', 'x')",
  );
  const shared = { name: "Docs", forge, settings };
  const remote = forge === "local" ? null : await startFarEnd(vendors[forge]);
  far = remote;
  const project = await server.admin.addProject(
    remote
      ? { ...shared, repo: remote.repositoryUrl, credential: remote.token }
      : { ...shared, repo: await installation.makeDocs(docs) },
  );
  const { key } = await server.admin.createKey({ projectIds: [project.id], name: "person", scope: "write" });
  const client = clientOf(server, project.id, key);
  const talk = slack ? talkInSlack(slack) : talkByApi({ url: server.url, projectId: project.id, key, client });
  return { server, project, key, client, remote, talk };
}

test.for(cells)(
  `ten turns on $forge, with a node killed in each (row $row)`,
  { timeout: 900_000 },
  async ({ forge, row }) => {
    const { server, project, key, client, remote, talk } = await openProject(forge);
    const { pool } = installation.database;
    const job = async () => (await pool.query("select * from jobs")).rows[0];
    const count = async (sql: string) => (await pool.query(sql)).rowCount ?? 0;
    let killed = 0;

    /** Polls until it is so. What the killed node held is free at once. */
    async function until(turn: Turn, isSo: () => Promise<boolean>, isOver = () => false): Promise<void> {
      while (!(await isSo())) {
        if (isOver()) return;
        await hastenPoll(pool, { projectId: project.id, number: 1 });
        await pause(100);
        if (node?.exitCode != null) throw new Error(`the node ended in the turn ${turn}`);
      }
    }

    /** The person says something, the node that works on it is killed at a point of this turn, and another goes on. */
    async function take(turn: Turn, say: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
      const points = [...kills[turn], ...((slack && chatKills[turn]) ?? [])];
      const at = points[row % points.length] as CrashPoint;
      await kill();
      const doomed = installation.spawn(at, "worker");
      node = doomed;
      await say();
      await until(turn, async () => doomed.signalCode !== null || (await isDone()));
      // What comes after the end, such as its own crash point, may come a moment after what everybody sees.
      const dead = doomed.signalCode === null ? once(doomed, "exit") : null;
      if (dead) await until(turn, async () => doomed.signalCode !== null);
      expect(doomed.signalCode, `${turn} does not pass ${at}`).toBe("SIGKILL");
      killed += 1;
      await expireLeases(pool);
      await pool.query("update tasks set held_until = null, due_at = least(due_at, now())");
      node = installation.spawn(undefined, "worker");
      await until(turn, isDone);
    }

    // 1 and 2: a request with a picture, and a question.
    const asks = async () => (await job())?.waiting_for === "answer" && (await job()).waiting_since !== null;
    await take("question", () => talk.request("Name the key."), asks);
    const { id } = await job();
    const branch = `emend/${id}`;
    const own = { projectId: project.id, key, url: server.url, branch };
    const people = remote ? peopleOn(remote, branch) : peopleHere(own);
    const hearsOf = (words: string) => async () =>
      (await count(`select from steps where messages::text like '%${words}%' and number > 1`)) > 0;

    // 3: the answer. 4 and 5: a message in the middle, and the pull request.
    await take("answer", () => talk.tell("It is an access key."), hearsOf("access key"));
    const isEnded = async () => (await job()).status === "completed" && (await job()).lease === null;
    await take("interjection", () => talk.tell("And write a note."), isEnded);
    const first = await people.head();

    // 6: CI fails, and is repaired. 7 and 8: a comment on a line, and one in its thread. Each is answered.
    const answered = async () => {
      const { thread, whole } = await people.answers();
      return thread.length + whole.length;
    };
    const isAnswered = (times: number) => async () => (await isEnded()) && (await answered()) >= times;
    await take("ci", () => people.failCi(first), isAnswered(1));
    const repaired = await people.head();
    await people.passCi(repaired);
    await take("review", () => people.comment("@emend say it shorter"), isAnswered(2));
    const shorter = await people.head();
    await people.passCi(shorter);
    await take("reply", () => people.reply("@emend and name it"), isAnswered(3));
    const named = await people.head();

    // 9: a message to the job that has ended. 10: the merge.
    const messages = async () => count("select from job_messages");
    await take(
      "message",
      () => talk.goOn("Say that it is short."),
      async () => (await messages()) === 4 && (await isEnded()),
    );
    await people.merge();
    await until("message", async () => (await job()).pull_request.state === "merged");
    expect((await client.send(`/job/${id}/message`, { prompt: "More." })).status).toBe(409);

    // Nothing lost.
    expect(await people.read(start)).toBe("# Start\n\nUse a Key.");
    expect(await people.read(other)).toBe(`# Other\n\nA short note.\n\n${shown}`);
    expect(await people.published()).toEqual([1, 1]);
    // Nothing repeated.
    expect(await people.answers()).toEqual({
      whole: [`Done in ${repaired}. Did it.`],
      thread: [`Done in ${shorter}. Did it.`, `Done in ${named}. Did it.`],
    });
    const author = remote ? "comment/ada" : "comment/console";
    const { rows: rounds } = await pool.query("select created_by from job_messages order by number");
    expect(rounds.map(({ created_by: by }) => by)).toEqual(["ci/spelling", author, author, talk.author]);
    const { rows: told } = await pool.query(
      `select kind, count(*)::int as times from job_events where kind in
         ('job.question', 'job.interjection', 'job.message', 'completed') group by kind order by kind`,
    );
    expect(told).toEqual([
      { kind: "completed", times: 5 },
      { kind: "job.interjection", times: 2 },
      { kind: "job.message", times: 4 },
      { kind: "job.question", times: 1 },
    ]);
    const { rows: heard } = await pool.query(
      `select message ->> 'text' as text from steps, jsonb_array_elements(messages) with ordinality one (message, place)
       where message ->> 'from' = 'interjection' order by number, place`,
    );
    expect(heard).toEqual([
      { text: expect.stringContaining("It is an access key.") },
      { text: expect.stringContaining("And write a note.") },
    ]);
    const { rows: merged } = await pool.query(
      "select from job_events where kind = 'pull_request' and data ->> 'state' = 'merged'",
    );
    expect(merged).toHaveLength(1);
    // A turn whose step was not stored is asked again, and no other.
    expect(model.requests.length - (await count("select from steps"))).toBeLessThanOrEqual(killed);
    expect(remote?.violations ?? []).toEqual([]);
    if (slack) {
      // One post for the question, and one for each round.
      const posts = slack.messages.filter(({ bot_id }) => bot_id);
      expect(new Set(posts.map(({ blocks }) => blocks[0]?.block_id)).size).toBe(posts.length);
      const asked = posts.filter(({ blocks }) => JSON.stringify(blocks).includes("What is the key called?"));
      expect([asked.length, posts.length]).toEqual([1, expect.toSatisfy((count) => count > 1 && count <= 6)]);
      expect(slack.violations).toEqual([]);
    }
  },
);
