// Costly: the command and the server that it asks are two processes.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Installation, startInstallation } from "./support/installation.ts";
import { runInProcess } from "./support/run-emend.ts";

const privateHooks = { EMEND_ALLOW_PRIVATE_WEBHOOKS: "true" };
let emend: Installation;
beforeAll(async () => {
  emend = await startInstallation(privateHooks);
});
afterAll(() => emend.stop());

const automation = (...args: string[]) => runInProcess(["automation", ...args, "--data", emend.dataDir]);
// Without the server's own setting: only the server decides whether it posts to a private address.
const webhook = (...args: string[]) => runInProcess(["webhook", ...args, "--data", emend.dataDir]);

test("an automation is added, listed, run, shown, paused and removed", async () => {
  const times = ["--cron", "0 9 * * 1", "--timezone", "Asia/Tokyo"];
  const added = await automation("add", emend.project, "Names", 'Replace "Acme" with "Apex".', ...times);
  expect(added.stdout).toMatch(/^aut_\w+\n$/);
  expect(added.stderr).toMatch(/runs next at \d{4}-\d\d-\d\dT00:00:00/);
  const id = added.stdout.trim();
  const listed = await automation("list", "--project", emend.project);
  expect(listed.stdout).toMatch(/Names +0 9 \* \* 1 \(Asia\/Tokyo\) +next \d{4}-\d\d-\d\d 00:00/);
  const run = await automation("run", id);
  expect(run.stdout).toMatch(/^job_\w+\n$/);
  expect(run.stderr).toBe(`Started job ${run.stdout.trim()}.\n`);
  expect((await automation("show", id)).stdout).toMatch(/Asia\/Tokyo[\s\S]*TIME +STATE[\s\S]*started +Started job/);
  expect(JSON.parse((await automation("pause", id, "--json")).stdout)).toEqual({ id, action: "pause" });
  expect((await automation("remove", id)).stderr).toBe("Removed.\n");
});

test("an automation is edited: what is not named stays, and what cannot be is refused", async () => {
  const added = await automation("add", emend.project, "Edited", "Fix broken links.", "--cron", "0 9 * * 1");
  const id = added.stdout.trim();
  const edited = await automation("edit", id, "--prompt", "- Fix links.", "--timezone", "Asia/Tokyo", "--json");
  expect(JSON.parse(edited.stdout)).toMatchObject({
    id,
    name: "Edited",
    prompt: "- Fix links.",
    trigger: { kind: "cron", expression: "0 9 * * 1", timezone: "Asia/Tokyo" },
    dueAt: expect.stringContaining("T00:00:00"),
  });
  const paused = await automation("edit", id, "--by-hand", "--name", "Renamed", "--pause");
  expect(paused).toMatchObject({ code: 0, stdout: `${id}\n`, stderr: expect.stringContaining("It is paused") });
  const resumed = await automation("edit", id, "--resume");
  expect(resumed.stderr).toBe("Changed. It runs only when you start it.\n");
  const listed = await automation("list", "--project", emend.project);
  expect(listed.stdout).toMatch(/Renamed +by hand +live/);
});

test("an automation that cannot be is refused with the exit code that fits", async () => {
  const bad = await automation("add", emend.project, "Bad", "Do {{this}}.");
  expect({ code: bad.code, stdout: bad.stdout }).toEqual({ code: 2, stdout: "" });
  expect(bad.stderr).toContain("Unknown variable {{this}}");
  const both = await automation("add", emend.project, "Bad", "x", "--cron", "* * * * *", "--push", "api");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("give one of")]);
});

test("a webhook is added, told, told again, disabled and removed", async () => {
  const received: { headers: Record<string, string>; body: string }[] = [];
  const waiting: (() => void)[] = [];
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
    response.end();
    for (const wake of waiting.splice(0)) wake();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const next = () => new Promise<void>((resolve) => waiting.push(resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

  const added = await webhook("add", url, "--project", emend.project, "--event", "job.completed");
  expect(added.stdout).toMatch(/^whsec_\S+\n$/);
  expect(added.stderr).toContain("only while EMEND_ALLOW_PRIVATE_WEBHOOKS=true is set where they run");
  const listed = await webhook("list", "--project", emend.project);
  const id = /^(whk_\w+) +live +standard +job\.completed +http:/m.exec(listed.stdout)?.[1] ?? "";
  expect(listed.stdout).not.toContain("whsec_");

  const told = next();
  await fetch(`${emend.url}/v2/agent/${emend.project}/job`, {
    method: "POST",
    headers: { authorization: `Bearer ${emend.key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: "Fix broken links." }),
  });
  await told;
  // The standard's own library can verify it.
  const { headers, body } = received[0] ?? { headers: {}, body: "" };
  expect(new Webhook(added.stdout.trim()).verify(body, headers)).toMatchObject({ type: "job.completed" });

  const deliveries = await webhook("deliveries", id);
  const delivery = /^(msg_\w+) .*job\.completed +(pending|delivered)/m.exec(deliveries.stdout)?.[1] ?? "";
  const again = next();
  expect((await webhook("redeliver", delivery)).code).toBe(0);
  await again;
  expect(received[1]?.headers["webhook-id"]).toBe(delivery);

  expect(JSON.parse((await webhook("disable", id, "--json")).stdout)).toEqual({ id, action: "disable" });
  expect((await webhook("remove", id)).code).toBe(0);
  expect((await webhook("enable", id)).code).toBe(4);
  receiver.close();
});
