import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSealer } from "../accounts/secrets.ts";
import { addWebhook, listWebhooks, openWebhookUrl, removeWebhook, showUrl } from "./webhooks.ts";

const sealer = createSealer("a secret of the tests, and of nothing else");
const slack = "https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnopWXYZ";
let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool);
});
afterAll(() => database.drop());

const stored = async (id: string) =>
  (
    await database.pool.query<{ url: string; sealedUrl: Buffer; whole: string }>(
      `select url, sealed_url as "sealedUrl", webhooks::text as whole from webhooks where id = $1`,
      [id],
    )
  ).rows[0] ?? { url: "", sealedUrl: Buffer.alloc(0), whole: "" };

test("an address is stored sealed, and shown by its origin and its end in lists and in the log", async () => {
  const { id } = await addWebhook({ db: database.pool, sealer, allowPrivate: false }, { projectId, url: slack });
  const row = await stored(id);
  expect(row.whole).not.toContain("abcdefgh");
  expect(row.sealedUrl.includes("abcdefgh")).toBe(false);
  expect(openWebhookUrl(sealer, { webhookId: id, ...row })).toBe(slack);
  expect(() => openWebhookUrl(sealer, { ...row, webhookId: "whk_other" })).toThrow();
  expect(await listWebhooks(database.pool, projectId)).toMatchObject([{ id, url: "https://hooks.slack.com/…WXYZ" }]);
  await removeWebhook(database.pool, id);
  const { rows } = await database.pool.query("select action, details from audit_log where target = $1 order by id", [
    id,
  ]);
  expect(rows).toEqual(
    ["webhook.added", "webhook.removed"].map((action) => ({
      action,
      details: { project: projectId, host: "hooks.slack.com" },
    })),
  );
});

test("short addresses of one receiver are told apart without their paths", async () => {
  const shown = ["hook-one", "hook-two"].map((path) => showUrl(`https://hooks.test/${path}`));
  expect(new Set(shown).size).toBe(2);
  expect(shown.join(" ")).toMatch(/^https:\/\/hooks\.test\/… \([0-9a-f]{4}\) /);
  expect(shown.join(" ")).not.toContain("hook-");
});

test.each([
  ["https://example.com", "https://example.com/"],
  ["https://example.com:8443/hook", "https://example.com:8443/… (019a)"],
  ["https://example.com/?key=sixteen-letters!!!", "https://example.com/… (93d1)"],
  ["https://example.com/?key=twenty-four-letters-and-more", "https://example.com/…more"],
  ["https://user:word@example.com/0123456789012345678901234567", "https://example.com/…4567"],
  ["not a URL at all", "…"],
])("%s is shown as %s", (url, shown) => expect(showUrl(url)).toBe(shown));
