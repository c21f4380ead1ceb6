import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { alterJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@emend/testkit/webhook-receiver.ts";
import { SMTPServer } from "smtp-server";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSealer } from "../accounts/secrets.ts";
import { startListener } from "../db/listener.ts";
import { askReviewer } from "../forge/local/pull-reviews.ts";
import {
  claimDelivery,
  type Delivery,
  listDeliveries,
  recordDeliveryOutcome,
  redeliver,
  releaseDelivery,
} from "./deliveries.ts";
import { type SmtpSettings, sendJobEmail, setEmailsJobs, trySmtp } from "./email.ts";
import { signatureHeaders } from "./post-message.ts";
import { type DeliveriesDeps, startDeliveries } from "./start-deliveries.ts";
import {
  addWebhook,
  listWebhooks,
  type NewWebhook,
  openWebhookSecrets,
  rotateWebhookSecret,
  setWebhookEnabled,
  testWebhook,
} from "./webhooks.ts";

const publicUrl = () => "https://emend.test";
const log = createLogger({ level: "silent" });
const sealer = createSealer("a secret of the tests, and of nothing else");
const database = await createTestDatabase();
const { pool } = database;
const listener = await startListener({ url: database.url, log });
afterAll(async () => {
  await listener.close();
  await database.drop();
});

let projectId: string;
let receiver: WebhookReceiver;
let running: ReturnType<typeof startDeliveries>[];
beforeEach(async () => {
  await pool.query("truncate deliveries, webhooks");
  projectId = await seedProject(pool);
  receiver = await startWebhookReceiver();
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  receiver.close();
});

function start(deps: Partial<DeliveriesDeps> = {}): void {
  running.push(
    startDeliveries({ pool, listener, log, sealer, publicUrl, allowPrivate: true, ...deps }, { pollEveryMs: 50 }),
  );
}
function add(input: Partial<NewWebhook> = {}) {
  return addWebhook({ db: pool, sealer, allowPrivate: true }, { projectId, url: receiver.url, ...input });
}
async function completedJob(): Promise<string> {
  const id = await seedJob(pool, projectId);
  await alterJob(pool, id, "status = 'completed', title = 'A title', ended_at = now()");
  return id;
}
/** Waits until the webhook's delivery has had this many tries. */
async function tried(webhookId: string, tries = 1): Promise<Delivery> {
  for (;;) {
    const delivery = (await listDeliveries(pool, webhookId))[0];
    const isSettled = delivery?.lastStatus !== null || delivery?.lastError !== null;
    if (delivery && delivery.tries >= tries && isSettled) return delivery;
  }
}

describe("a message", () => {
  test("of the type webhook.test goes to the webhook that is tested, under both secrets after a rotation", async () => {
    const { id, secret: old } = await add({ events: ["job.failed"] });
    const rotated = await rotateWebhookSecret({ db: pool, sealer }, id);
    const secrets = [rotated?.secret ?? "", old];
    expect(await openWebhookSecrets({ db: pool, sealer }, projectId)).toEqual(expect.arrayContaining(secrets));
    start();
    expect(await testWebhook(pool, id)).not.toBeNull();
    const { headers, body } = await receiver.message(1);
    expect(JSON.parse(body)).toMatchObject({ type: "webhook.test", data: { projectId } });
    const sentAtSeconds = Number(headers["webhook-timestamp"]);
    expect(headers).toMatchObject(
      signatureHeaders(secrets, { id: String(headers["webhook-id"]), body, sentAtSeconds }),
    );
    await pool.query("update webhooks set old_secret_until = now() where id = $1", [id]);
    await testWebhook(pool, id);
    const later = (await receiver.message(2)).headers["webhook-signature"];
    expect(later).toMatch(/^v1,\S+$/);
    expect(await testWebhook(pool, "whk_unknown")).toBeNull();
  });

  test("reaches its webhook, signed, once, however many nodes send", async () => {
    const { id, secret } = await add();
    for (let node = 0; node < 3; node += 1) start();
    const jobId = await completedJob();
    const { headers, body, path } = await receiver.message(1);
    expect(path).toBe("/hook");
    expect(JSON.parse(body)).toMatchObject({ type: "job.completed", data: { projectId, job: { id: jobId } } });
    const sentAtSeconds = Number(headers["webhook-timestamp"]);
    expect(headers).toMatchObject(
      signatureHeaders([secret], { id: String(headers["webhook-id"]), body, sentAtSeconds }),
    );
    expect(await tried(id)).toMatchObject({ state: "delivered", lastStatus: 204, tries: 1, jobId });
    await redeliver(pool, String(headers["webhook-id"]));
    expect((await receiver.message(2)).headers["webhook-id"]).toBe(headers["webhook-id"]);
    expect(receiver.received).toHaveLength(2);
  });

  test("is sent to a server whose certificate only the configured authority has signed", async () => {
    const read = (name: string) =>
      readFileSync(new URL(`../../../testkit/src/certificates/${name}`, import.meta.url), "utf8");
    const cert = read("localhost.cert.pem");
    const server = createServer({ key: read("localhost.key.pem"), cert }, (_request, response) => response.end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { id } = await add({ url: `https://localhost:${(server.address() as AddressInfo).port}/hook` });
    start();
    await testWebhook(pool, id);
    expect(await tried(id)).toMatchObject({ lastStatus: null, lastError: expect.stringMatching(/certificate/i) });
    await running.pop()?.stop();
    start({ ca: [cert] });
    await pool.query("update deliveries set due_at = now()");
    const delivery = async () => (await listDeliveries(pool, id))[0];
    await expect.poll(delivery).toMatchObject({ state: "delivered", lastStatus: 200 });
    server.close();
  });

  test("whose sender was killed is sent by another, and the dead one's word counts no more", async () => {
    const { id } = await add();
    await completedJob();
    const claimed = await claimDelivery(pool, { claimMs: 60_000, busyWebhookIds: [] });
    expect(await claimDelivery(pool, { claimMs: 60_000, busyWebhookIds: [] })).toBeUndefined();
    await pool.query("update deliveries set due_at = now()");
    start();
    await receiver.message(1);
    expect(await tried(id, 2)).toMatchObject({ state: "delivered", tries: 2 });
    if (!claimed) throw new Error("nothing was claimed");
    await recordDeliveryOutcome(pool, claimed, { kind: "gone", status: 410 });
    expect(await tried(id, 2)).toMatchObject({ state: "delivered" });
    // Nor while the other one is still sending.
    await pool.query("update deliveries set state = 'pending'");
    await recordDeliveryOutcome(pool, claimed, { kind: "delivered", status: 204 });
    await releaseDelivery(pool, claimed);
    expect(await tried(id, 2)).toMatchObject({ state: "pending", tries: 2 });
    expect(await listWebhooks(pool, projectId)).toMatchObject([{ disabledReason: null }]);
  });

  test("that is under way when the process stops is due at once, and that was no try", async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const { id } = await add({ url: "https://hooks.test/" });
    // A receiver whose name is being looked up.
    const lookup = () => {
      resolve();
      return new Promise<never>(() => {});
    };
    start({ resolve: lookup });
    await completedJob();
    await asked;
    await running.pop()?.stop();
    const [delivery] = await listDeliveries(pool, id);
    expect(delivery).toMatchObject({ state: "pending", tries: 0, lastError: null });
    expect(delivery?.dueAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  test("is not sent while its webhook is disabled", async () => {
    const { id } = await add();
    await completedJob();
    await setWebhookEnabled(pool, id, false);
    expect(await claimDelivery(pool, { claimMs: 1000, busyWebhookIds: [] })).toBeUndefined();
    await completedJob();
    expect(await listDeliveries(pool, id)).toHaveLength(1);
    await setWebhookEnabled(pool, id, true);
    expect(await claimDelivery(pool, { claimMs: 1000, busyWebhookIds: [id] })).toBeUndefined();
    expect(await claimDelivery(pool, { claimMs: 1000, busyWebhookIds: [] })).toBeDefined();
  });
});

test("receivers that hang get a slot each, and the others do not wait for them", async () => {
  for (let n = 0; n < 5; n += 1) await add({ url: `https://hanging.test/${n}` });
  for (let n = 0; n < 5; n += 1) await completedJob();
  const { id } = await add();
  let hanging = 0;
  start({
    allowPrivate: true,
    resolve(host, done) {
      if (host === "hanging.test") hanging += 1;
      else done(null, [{ address: "127.0.0.1", family: 4 }]);
    },
  });
  await expect.poll(() => hanging).toBe(5);
  await testWebhook(pool, id);
  expect(await tried(id)).toMatchObject({ state: "delivered" });
  expect(hanging).toBe(5);
});

describe("a receiver that refuses", () => {
  test.each([
    [500, {}, 5],
    [302, { location: "/elsewhere" }, 5],
    [429, { "retry-after": "90" }, 90],
  ])("with %i is tried again after a while, and no redirect is followed", async (status, headers, seconds) => {
    receiver.answer = { status, headers };
    const { id } = await add();
    start();
    await completedJob();
    const { state, lastStatus, dueAt, lastTryAt } = await tried(id);
    expect([state, lastStatus]).toEqual(["pending", status]);
    const waitSeconds = (dueAt.getTime() - (lastTryAt?.getTime() ?? 0)) / 1000;
    expect(waitSeconds).toBeGreaterThanOrEqual(seconds);
    expect(waitSeconds).toBeLessThan(seconds * 1.1 + 20);
    expect(receiver.received.map(({ path }) => path)).toEqual(["/hook"]);
  });

  test("ten times in a row has had its chances", async () => {
    receiver.answer = { status: 500 };
    const { id } = await add();
    await completedJob();
    await pool.query("update deliveries set tries = 9");
    start();
    expect(await tried(id, 10)).toMatchObject({ state: "failed", tries: 10 });
  });

  test("with 410 gets nothing more", async () => {
    receiver.answer = { status: 410 };
    const { id } = await add();
    start();
    await completedJob();
    expect(await tried(id)).toMatchObject({ state: "failed", lastStatus: 410 });
    expect(await listWebhooks(pool, projectId)).toMatchObject([{ disabledReason: "its receiver answered 410 Gone" }]);
    await completedJob();
    const [delivery, ...others] = await listDeliveries(pool, id);
    expect(others).toEqual([]);
    await expect(redeliver(pool, delivery?.id ?? "")).rejects.toThrow("Enable it first");
    expect(await tried(id), "nothing is left to wait for ever").toMatchObject({ state: "failed" });
  });
});

describe("an address that is not public", () => {
  const refused = { state: "pending", lastStatus: null, lastError: "the address is not public" };

  test.each(["the address itself", "a name"])("is not connected to, by %s", async (by) => {
    const { port } = new URL(receiver.url);
    const url = by === "a name" ? `http://internal.test:${port}/` : receiver.url;
    const { id } = await add({ url });
    start({ allowPrivate: false, resolve: (_host, done) => done(null, [{ address: "127.0.0.1", family: 4 }]) });
    await completedJob();
    expect(await tried(id)).toMatchObject(refused);
    expect(receiver.received).toEqual([]);
  });

  test("a private address is refused when the name resolves again (DNS rebinding)", async () => {
    const { port } = new URL(receiver.url);
    const { id } = await add({ url: `http://rebinding.test:${port}/` });
    let asked = 0;
    start({
      allowPrivate: false,
      resolve(_host, done) {
        asked += 1;
        // A name with both kinds: the private address is left out, and the other refuses connections.
        done(null, [
          { address: "127.0.0.1", family: 4 },
          { address: "::ffff:127.0.0.1", family: 6 },
        ]);
      },
    });
    await completedJob();
    expect(await tried(id)).toMatchObject(refused);
    expect([asked, receiver.received.length]).toEqual([1, 0]);
  });

  test("nor is a public one without TLS, also where somebody added it under other settings", async () => {
    const { id } = await add({ url: "http://plain.test/" });
    start({ allowPrivate: false, resolve: (_host, done) => done(null, [{ address: "203.0.114.1", family: 4 }]) });
    await completedJob();
    expect(await tried(id)).toMatchObject({ ...refused, lastError: "the address does not begin with https://" });
  });

  test.each([
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://169.254.169.254/latest",
    "http://example.com/",
    "https://user:word@example.com/",
    "ftp://example.com/",
    "nothing",
    `https://example.com/${"x".repeat(2000)}`,
  ])("%s is refused when the webhook is added", async (url) => {
    const adding = addWebhook({ db: pool, sealer, allowPrivate: false }, { projectId, url });
    await expect(adding).rejects.toMatchObject({ code: "invalid_request" });
  });
});

test("a webhook's secret is in no column in the clear", async () => {
  const { secret } = await add();
  const { rows } = await pool.query("select secret, webhooks::text as whole from webhooks");
  expect(rows[0].whole).not.toContain(secret);
  expect(rows[0].secret.includes(Buffer.from(secret.replace("whsec_", ""), "base64"))).toBe(false);
});

describe("email about one's own jobs", () => {
  const certificate = (name: string) => new URL(`../../../testkit/src/certificates/${name}`, import.meta.url);
  const received: { from: string; to: readonly string[]; secure: boolean; user: string; text: string }[] = [];
  let isFull = false;
  const server = new SMTPServer({
    key: readFileSync(certificate("localhost.key.pem")),
    cert: readFileSync(certificate("localhost.cert.pem")),
    onAuth({ username, password }, _session, done) {
      if (username === "emend" && password === "p@ss/word") done(null, { user: username });
      else done(new Error("Invalid login"));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (isFull) return done(Object.assign(new Error("Mailbox full"), { responseCode: 452 }));
        const { mailFrom, rcptTo } = session.envelope;
        const to = rcptTo.map(({ address }) => address);
        const text = Buffer.concat(chunks).toString("utf8").replaceAll("=\r\n", "").replaceAll("\r\n", "\n");
        const from = mailFrom ? mailFrom.address : "";
        received.push({ from, to, secure: session.secure, user: String(session.user), text });
        done();
      });
    },
  });
  let smtp: SmtpSettings;
  beforeEach(async () => {
    received.length = 0;
    isFull = false;
    if (!server.server.listening) await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const { port } = server.server.address() as { port: number };
    smtp = {
      host: "localhost",
      port,
      isSecure: false,
      login: { user: "emend", password: "p@ss/word" },
      from: { name: "Emend", address: "emend@acme.test" },
      caFile: fileURLToPath(certificate("localhost.cert.pem")),
    };
    await pool.query("truncate users cascade");
    await pool.query("insert into users (id, email, name, role) values ('usr_1', 'ada,bo@x.test', 'Ada', 'viewer')");
  });
  afterAll(() => new Promise<void>((closed) => server.close(closed)));

  async function endJob(assignments: string): Promise<string> {
    const id = await seedJob(pool, projectId);
    await alterJob(pool, id, "created_by = 'user/Ada,Bo@x.test'");
    await alterJob(pool, id, `ended_at = now(), ${assignments}`);
    return id;
  }
  const unsent = async () => (await pool.query<{ id: string }>("select id from job_emails")).rows.map(({ id }) => id);
  const send = async (settings: SmtpSettings | null = smtp) => {
    for (const id of await unsent()) await sendJobEmail({ pool, log, smtp: settings, publicUrl }, id);
  };

  test("is sent to people who turned it on, over TLS and with a login, with links and one subject line", async () => {
    await endJob("status = 'completed', title = 'Before it was on'");
    await setEmailsJobs(pool, "usr_1", true);
    const other = await seedJob(pool, projectId);
    await alterJob(pool, other, "status = 'completed', ended_at = now()");
    const pull = JSON.stringify({ number: 1, url: "https://git.test/pull/1", state: "open", draft: false });
    const title = "Rename\r\nBcc: eve@evil.test\r\n\r\n<b>it</b>";
    const id = await endJob(`status = 'completed', title = '${title}', pull_request = '${pull}'`);
    await send();
    expect(received).toMatchObject([{ from: "emend@acme.test", to: ['"ada,bo"@x.test'], secure: true, user: "emend" }]);
    const text = received[0]?.text ?? "";
    expect(text).toContain("\nSubject: Completed: Rename Bcc: eve@evil.test <b>it</b>\n");
    expect(text).not.toMatch(/^Bcc:/m);
    expect(text).toContain(`https://emend.test/app/jobs/${id}`);
    expect(text).toContain("https://git.test/pull/1");
    expect(text).toContain("&lt;b&gt;it&lt;/b&gt;");
    expect(await unsent()).toEqual([]);
    // The task runs once more.
    const { rows } = await pool.query("select subject from tasks where kind = 'send_email'");
    for (const { subject } of rows) await sendJobEmail({ pool, log, smtp, publicUrl }, subject);
    expect(received).toHaveLength(1);
  });

  test("asks for an answer, with the options", async () => {
    await setEmailsJobs(pool, "usr_1", true);
    const id = await seedJob(pool, projectId);
    await alterJob(pool, id, "created_by = 'user/Ada,Bo@x.test'");
    const ask =
      "insert into job_questions (job_id, step, question, options, answer_until) values ($1, 1, $2, $3, now())";
    await pool.query(ask, [id, "Which\nport?", ["80", "443"]]);
    received.length = 0;
    await send();
    const text = received[0]?.text ?? "";
    expect(text).toContain("\nSubject: Question: Which port?\n");
    expect(text).toContain("- 443");
    expect(text).toContain(`https://emend.test/app/jobs/${id}`);
  });

  test("asks everybody who may write to approve the change of a job that no person started", async () => {
    await setEmailsJobs(pool, "usr_1", true);
    await pool.query("update users set role = 'viewer' where id = 'usr_1'");
    const ask = async () => {
      const id = await seedJob(pool, projectId);
      const construct = { path: "a.md", line: 2, text: "<iframe>\nx", kind: "element", reason: "New.", count: 3 };
      await pool.query(
        "insert into job_questions (job_id, question, answer_until, constructs) values ($1, 'Publish it?', now(), $2)",
        [id, JSON.stringify([construct])],
      );
      return id;
    };
    await ask();
    expect(await unsent()).toEqual([]);
    await pool.query("update users set role = 'maintainer' where id = 'usr_1'");
    const id = await ask();
    received.length = 0;
    await send();
    const text = received[0]?.text ?? "";
    expect(text).toContain("\nSubject: Waiting for you: Publish it?\n");
    expect(text).toContain("- a.md, line 2 (3 times): <iframe> x");
    expect(text).toContain(`https://emend.test/app/jobs/${id}`);
  });

  test("asks for a review, once for each time that somebody is asked", async () => {
    await pool.query("update users set role = 'maintainer' where id = 'usr_1'");
    await pool.query(
      `insert into local_pull_requests (project_id, number, head_ref, base_ref, title, body, draft, base_commit, head_commit)
       values ($1, 7, 'a', 'main', 'Rename it', '', false, 'b', 'h')`,
      [projectId],
    );
    const ask = () => askReviewer(pool, { projectId, number: 7 }, "ada,BO@x.test");
    await setEmailsJobs(pool, "usr_1", false);
    expect(await ask()).toBe(true);
    expect(await unsent()).toEqual([]);
    await setEmailsJobs(pool, "usr_1", true);
    expect(await ask()).toBe(true);
    expect(await askReviewer(pool, { projectId, number: 7 }, "nobody@x.test")).toBe(false);
    received.length = 0;
    await send();
    await send();
    expect(received).toHaveLength(1);
    expect(received[0]?.text).toContain("\nSubject: Review: Rename it\n");
    expect(received[0]?.text).toContain(`https://emend.test/app/pulls/${projectId}/7`);
  });

  test("is tried again later while the server refuses it, and is dropped without a server", async () => {
    await setEmailsJobs(pool, "usr_1", true);
    await endJob("status = 'failed', failure_code = 'timeout', failure_message = 'Too long.'");
    isFull = true;
    await expect(send()).rejects.toMatchObject({ retryable: true });
    expect([received.length, (await unsent()).length]).toEqual([0, 1]);
    isFull = false;
    await send();
    expect(received[0]?.text).toContain("Too long.");
    await endJob("status = 'completed'");
    await send(null);
    expect((await pool.query("select from job_emails")).rowCount).toBe(0);
  });

  test("sends no password without TLS, and says what is wrong with a server", async () => {
    await trySmtp(smtp);
    await expect(trySmtp({ ...smtp, login: { user: "emend", password: "wrong" } })).rejects.toThrow("Invalid login");
    await expect(trySmtp({ ...smtp, caFile: null })).rejects.toThrow(/certificate/);
    const plain = new SMTPServer({
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: (_1, _2, done) => done(null, { user: "x" }),
    });
    await new Promise<void>((ready) => plain.listen(0, "127.0.0.1", ready));
    const { port } = plain.server.address() as { port: number };
    await expect(trySmtp({ ...smtp, port })).rejects.toThrow(/STARTTLS/);
    await trySmtp({ ...smtp, port, login: null });
    await new Promise<void>((closed) => plain.close(closed));
  });
});
