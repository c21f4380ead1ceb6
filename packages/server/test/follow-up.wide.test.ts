import type { FarTurn } from "@emend/testkit/far-model.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, commitByPerson, pullOf } = models;

const page = (title: string, text: string) => `---\ntitle: ${title}\n---\n\n${text}\n`;
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup", "notes"] }] }),
  "index.mdx": page("Home", "See [setup](/setup)."),
  "setup.mdx": page("Setup", "It takes ten minuts."),
  "notes.mdx": page("Notes", "Nothing yet."),
};

/** The first prompt corrects a word. Each message adds words to the notes. */
const script: Parameters<typeof models.install>[0] = (turn, { messages }) => {
  const asked = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => JSON.stringify(content))
    .filter((text) => !text.includes("the review found this"));
  const calls = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.function.name);
  const finished = calls.filter((name) => name === "finish").length;
  const edited = calls.filter((name) => name === "edit_file").length;
  if (edited < asked.length) {
    const [oldText, newText] =
      edited === 0 ? ["minuts", "minutes"] : ["Nothing yet.", `More${"!".repeat(turn)} Nothing yet.`];
    return [["edit_file", { path: edited === 0 ? "setup.mdx" : "notes.mdx", oldText, newText }]];
  }
  const summary = `Did what was asked in ${asked.length} rounds.`;
  if (asked.length === 1) return [["finish", { title: `Round 1, turn ${finished}`, summary }]];
  const isOther = asked.at(-1)?.includes("Call it otherwise");
  const words = { summary, reply: `Did round ${asked.length}.`, ...(isOther && { title: "Keep the notes" }) };
  return [["finish", words]] satisfies FarTurn;
};

const settings = { secondReader: false };

async function opened() {
  const installed = await models.install(script, { docs, settings });
  const { client } = installed;
  const { id } = await client.create({ prompt: "Fix the misspelling." });
  const first = await client.untilFinal(id);
  expect(first.status).toBe("completed");
  return { ...installed, id, first, branch: first.source.ref ?? "" };
}

async function followUp(client: Awaited<ReturnType<typeof opened>>["client"], id: string, prompt: string) {
  expect((await client.send(`/job/${id}/message`, { prompt })).status).toBe(200);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  return { run: await client.run(id), diff: (await client.send(`/job/${id}/diff`)).text };
}

const filesOf = (diff: string) => [...diff.matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path);

test("after messages, diff, figures, title and text are the whole pull request's, including commits by people", async () => {
  const { client, project, id, branch, installation } = await opened();
  await commitByPerson(project.id, branch, "index.mdx", page("Home", "See [setup](/setup). By a [person](/nowhere)."));
  const moved = await commitByPerson(project.id, "main", "later.mdx", page("Later", "Came later."));

  const second = await followUp(client, id, "Write a note.");
  expect(filesOf(second.diff)).toEqual(["index.mdx", "notes.mdx", "setup.mdx"]);
  expect(second.run).toMatchObject({ baseCommit: moved, title: "Round 1, turn 0", findings: { introducedCount: 1 } });
  expect(second.run.findings?.introduced).toMatchObject([{ path: "index.mdx" }]);
  const third = await followUp(client, id, "Write another note.");
  expect(filesOf(third.diff)).toEqual(["index.mdx", "notes.mdx", "setup.mdx"]);
  expect(third.run.usage.inputTokens).toBe(third.run.steps.count * 1000);

  const pull = await pullOf(project.id);
  expect(pull?.title).toBe("Round 1, turn 0");
  const body = pull?.body ?? "";
  const places = [
    "Did what was asked in 3 rounds.",
    "**1.** Asked:\n\n> Fix the misspelling.\n\n",
    "**2.** Asked:\n\n> Write a note.\n\nDid round 2.",
    "**3.** Asked:\n\n> Write another note.\n\nDid round 3.",
    "### New findings",
    /- changed `index\.mdx` \+\d+ −\d+, including commits by people\n- changed `notes\.mdx` \+\d+ −\d+\n- changed `setup\.mdx` \+1 −1\n/,
    `in ${third.run.steps.count} steps: ${(third.run.steps.count * 1000).toLocaleString("en-US")} tokens in`,
  ].map((words) => (typeof words === "string" ? body.indexOf(words) : body.search(words)));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThanOrEqual(0);
  // The first round's summary is outdated, so it is in the section of that round.
  expect(body.indexOf("in 1 rounds")).toBeGreaterThan(places[1] ?? 0);
  const { rows: steps } = await installation.database.pool.query(
    "select data -> 'files' as files from job_events where kind = 'step' and data ? 'files' order by seq limit 1",
  );
  expect(steps[0]?.files).toEqual([{ path: "setup.mdx", change: "modified", additions: 1, deletions: 1 }]);
  expect(JSON.stringify(pull?.checks)).toContain("1 new error");
  expect(await git(project.id, "show", `${branch}:index.mdx`)).toContain("By a [person]");
  const { rows } = await installation.database.pool.query("select diff_figures from jobs");
  expect(rows[0].diff_figures).toMatchObject({ files: 3 });
});

test("what is said while a job works is in its one pull request, whenever it was said", async () => {
  const both: typeof script = (_turn, { messages }) => {
    const text = JSON.stringify(messages);
    const edited = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.function.arguments);
    const isEdited = (path: string) => edited.some((input) => input.includes(path));
    if (!isEdited("setup.mdx")) return [["edit_file", { path: "setup.mdx", oldText: "minuts", newText: "minutes" }]];
    if (text.includes("write a note") && !isEdited("notes.mdx"))
      return [["edit_file", { path: "notes.mdx", oldText: "Nothing yet.", newText: "Something." }]];
    return [["finish", { title: "Fix it", summary: "Fixed it.", reply: "Did it." }]];
  };
  const { client, project, installation } = await models.install(both, { docs, settings });
  const { id } = await client.create({ prompt: "Fix the misspelling." });
  expect((await client.send(`/job/${id}/message`, { prompt: "And write a note." })).status).toBe(200);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect(filesOf((await client.send(`/job/${id}/diff`)).text)).toEqual(["notes.mdx", "setup.mdx"]);
  const { rows } = await installation.database.pool.query(
    "select count(*)::int as pulls from local_pull_requests where project_id = $1",
    [project.id],
  );
  expect(rows).toEqual([{ pulls: 1 }]);
});

test("where people took the base branch in, its changes are not the pull request's", async () => {
  const { client, project, id, branch } = await opened();
  const moved = await commitByPerson(project.id, "main", "later.mdx", page("Later", "Came later."));
  const tree = await git(project.id, "merge-tree", "--write-tree", branch, "main");
  const merge = await git(project.id, "commit-tree", "-p", branch, "-p", "main", "-m", "Update branch", tree);
  await git(project.id, "update-ref", `refs/heads/${branch}`, merge);

  const { run, diff } = await followUp(client, id, "Write a note.");
  expect(filesOf(diff)).toEqual(["notes.mdx", "setup.mdx"]);
  expect(run.baseCommit).toBe(moved);
  expect((await pullOf(project.id))?.body).not.toContain("later.mdx");
});

test("a base branch in conflict is reported and not merged", async () => {
  const { client, project, id, branch } = await opened();
  const fork = await git(project.id, "rev-parse", "main");
  await commitByPerson(project.id, "main", "setup.mdx", page("Setup", "It takes an hour."));
  const { run, diff } = await followUp(client, id, "Write a note.");
  expect(filesOf(diff)).toEqual(["notes.mdx", "setup.mdx"]);
  expect(run.baseCommit).toBe(fork);
  expect(await git(project.id, "rev-list", "--count", `main..${branch}`)).toBe("2");
  const body = (await pullOf(project.id))?.body;
  expect(body).toContain(`**\`main\` changed** while Emend worked, and both sides changed \`setup.mdx\``);
  expect(body).toContain(`still based on \`${fork.slice(0, 10)}\``);
});

test("a message that changes what the pull request is about gives it a new title; a person's text stays", async () => {
  const { client, project, id, installation } = await opened();
  const { pool } = installation.database;
  await pool.query("update local_pull_requests set body = 'Read by Ada.' || E'\\n\\n' || body, title = 'Ada''s title'");
  await followUp(client, id, "Write a note.");
  const second = await pullOf(project.id);
  expect(second?.title).toBe("Ada's title");
  expect(second?.body.startsWith("Read by Ada.")).toBe(true);
  expect(second?.body).toContain("## Follow-up\n\n> Write a note.");
  expect(second?.body).toContain("- changed `setup.mdx`");

  const { run } = await followUp(client, id, "Call it otherwise, and write a note.");
  expect(run.title).toBe("Keep the notes");
  expect((await pullOf(project.id))?.title).toBe("Keep the notes");
});

test("what was found in an earlier round is found again, and a ready pull request says that it needs a review", async () => {
  const edit = (path: string, oldText: string, newText: string): FarTurn => [
    ["edit_file", { path, edits: [{ oldText, newText }] }],
  ];
  const done: FarTurn = [["finish", { title: "Say more", summary: "Says more.", reply: "Say more." }]];
  const invented = edit("notes.mdx", "Nothing yet.", "Nothing yet. Set `KEEP_NOTES_MAX` first.");
  const harmless = edit("setup.mdx", "minuts", "minutes");
  const rounds: Record<string, readonly FarTurn[]> = {
    "Invent first.": [invented, done, done, done, harmless, done, done, done],
    "Invent later.": [harmless, done, invented, done, done, done],
  };
  const { client, project } = await models.install(
    (turn, { messages }) => {
      const asked = Object.keys(rounds).find((prompt) => JSON.stringify(messages).includes(prompt)) ?? "";
      return rounds[asked]?.[turn] ?? done;
    },
    { docs, settings },
  );
  const notice = [];
  for (const prompt of Object.keys(rounds)) {
    const { id } = await client.create({ prompt });
    await client.untilFinal(id);
    const { run } = await followUp(client, id, "Correct the rest.");
    expect(run.findings?.introduced).toMatchObject([{ check: "unsupported-fact", path: "notes.mdx" }]);
    notice.push(/\*\*([\w ]+):\*\*/.exec((await pullOf(project.id))?.body ?? "")?.[1]);
  }
  expect(notice).toEqual(["Needs review", "Needs review"]);
});
