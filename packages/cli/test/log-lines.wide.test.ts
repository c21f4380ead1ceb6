// Costly: it reads what a server prints, up to its last line after Ctrl-C.
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { startWebhookReceiver } from "@emend/testkit/webhook-receiver.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runEmend, startEmend } from "./support/run-emend.ts";
import { makeDataDir, makeTempDir, removeDir } from "./support/temp-dir.ts";

let dir: string;
beforeAll(async () => {
  dir = await makeTempDir();
});
afterAll(() => removeDir(dir));

async function printed(...args: string[]): Promise<string> {
  const env = { EMEND_ALLOW_PRIVATE_WEBHOOKS: "true" };
  const { code, stdout, stderr } = await runEmend([...args, "--data", join(dir, "data")], { env });
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

test("every log line about a job or a request names it, and Ctrl-C stops without a complaint", async () => {
  await makeDataDir(join(dir, "data"));
  await cp(join(import.meta.dirname, "..", "sample"), join(dir, "docs"), { recursive: true });
  const receiver = await startWebhookReceiver();
  const env = { EMEND_LOG_LEVEL: "debug", EMEND_ALLOW_PRIVATE_WEBHOOKS: "true", EMEND_TRUSTED_PROXY: "true" };
  const server = startEmend(["serve", "--port", "0", "--data", join(dir, "data")], { env });
  await server.untilPrinted('"event":"ready"');
  const lines = () =>
    server
      .stdout()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const { url } = lines().find(({ event }) => event === "ready");
  const project = await printed("project", "add", "Docs", "--forge", "local", "--repo", join(dir, "docs"));
  const key = await printed("key", "create", "--project", project);
  await printed("webhook", "add", receiver.url, "--project", project);

  const created = await fetch(`${url}/v2/agent/${project}/job`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": "the-caller" },
    body: JSON.stringify({ prompt: "Fix broken links." }),
  });
  const { id } = (await created.json()) as { id: string };
  await receiver.message(1);
  await server.untilPrinted('"msg":"webhook tried"');
  server.kill("SIGINT");
  const { code, stderr } = await server.finished;
  receiver.close();

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const log = lines().filter(({ msg }) => msg !== undefined);
  // One warning, about the misspelled variable. Stopping logs none.
  const warned = log.filter(({ level }) => level >= 40);
  expect(warned).toMatchObject([{ variable: "EMEND_TRUSTED_PROXY", meant: "EMEND_TRUST_PROXY" }]);
  expect(warned).toHaveLength(1);
  const create = { requestId: "the-caller", projectId: project, jobId: id, status: 201 };
  expect(log).toContainEqual(expect.objectContaining({ msg: "request answered", ...create }));
  const messages = log.filter((line) => JSON.stringify(line).includes(id)).map(({ jobId, msg }) => ({ jobId, msg }));
  expect(messages.filter(({ jobId }) => jobId !== id)).toEqual([]);
  expect(messages.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(["request answered", "run started", "run ended", "webhook tried"]),
  );
  for (const line of log.filter(({ msg }) => msg.startsWith("request"))) expect(line.requestId).toMatch(/./);
  const text = log.filter(({ level }) => level >= 30).map((line) => JSON.stringify(line));
  expect(text.join("\n")).not.toMatch(new RegExp(`broken links|${key}`, "i"));
});
