import { type FarMessage, mentionOfEmend, startFarSlack } from "@emend/testkit/far-slack.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { expireLeases } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();

test("a conversation in Slack, from a mention to the pull request, although its server is killed after its first post", async () => {
  const slack = await startFarSlack();
  slack.people = { U0ADA: { email: "ada@example.com" } };
  try {
    const { server, installation, project } = await models.install(
      (turn, { messages }) => {
        if (turn === 0) return [["read_file", { path: "index.md" }]];
        if (turn === 1) return [["ask", { question: "How many minutes?", options: ["5", "10"] }]];
        const heard = /after your question:\D+(\d+)/.exec(JSON.stringify(messages))?.[1] ?? "some";
        if (turn === 2) return [["edit_file", { path: "index.md", oldText: "TODO", newText: heard }]];
        return [["finish", { title: "Say how long it takes", summary: "Wrote the minutes." }]];
      },
      {
        docs: { "index.md": "# Home\n\nIt takes TODO minutes.\n" },
        settings: { secondReader: false, chatChannels: ["slack/C0DOCS"] },
      },
      slack.environment,
    );
    const { pool } = installation.database;
    await pool.query(
      "insert into users (id, email, name, role, password_hash) values ('usr_ada', 'ada@example.com', 'Ada', 'maintainer', 'x')",
    );
    await server.stop();
    const dying = installation.runUntilCrash("after-chat-post");
    const thread = await slack.say({ user: "U0ADA", text: `${mentionOfEmend} Say how long the setup takes.` });
    await dying;
    await pool.query("update tasks set held_until = null");
    await expireLeases(pool);
    await installation.start();
    const posts = () => slack.messages.filter(({ thread_ts, bot_id }) => thread_ts === thread && bot_id);
    const find = (words: string) =>
      slack.until(() => posts().find(({ blocks }) => JSON.stringify(blocks).includes(words)));
    const question = await find("How many minutes?");
    const buttons = ({ blocks }: FarMessage) =>
      blocks.filter(({ type }) => type === "actions").flatMap(({ elements }) => elements as { value: string }[]);
    await slack.press("U0ADA", question, buttons(question)[1]?.value ?? "");
    await find("is ready for review.");
    await slack.until(() => buttons(question).length === 0);
    expect(posts()).toHaveLength(2);
    const { rows } = await pool.query("select id from jobs");
    expect(rows).toHaveLength(1);
    expect(await models.git(project.id, "show", `emend/${rows[0].id}:index.md`)).toContain("It takes 10 minutes.");
    expect(slack.violations).toEqual([]);
  } finally {
    await slack.stop();
  }
});
