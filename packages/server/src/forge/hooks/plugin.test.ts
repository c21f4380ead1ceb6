import { createHmac } from "node:crypto";
import { type AddressInfo, connect, type Socket } from "node:net";
import { createByteBudget } from "@emend/base/byte-budget.ts";
import fastify from "fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAppError } from "../../errors.ts";
import { forgeHooksPlugin, hookSecretOf } from "./plugin.ts";

const app = fastify();
// Configured like the whole server.
app.setErrorHandler((error, _request, reply) =>
  reply.code(isAppError(error, "unavailable") ? 503 : 500).send({ error: "refused" }),
);
const noticed: unknown[] = [];
const pushed: unknown[] = [];
const asked: unknown[] = [];
beforeAll(async () => {
  const deps = {
    secret: "s".repeat(32),
    unknownBytes: createByteBudget({ bytesMax: 1_500_000, bodyMsMax: 60_000 }),
    isProject: async (projectId: string) => projectId === "prj_1",
    noticed: async (input: unknown) => void noticed.push(input),
    async askedOnIssue(input: unknown) {
      asked.push(input);
      return true;
    },
    async pushed(projectId: string) {
      pushed.push(projectId);
      return true;
    },
  };
  await app.register(forgeHooksPlugin(deps));
});
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await app.close();
});

const secret = hookSecretOf("s".repeat(32), "prj_1");
const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`emend:${password}`).toString("base64")}`,
});
const sign = (body: string, key = secret) => createHmac("sha256", key).update(body).digest("hex");
const send = (forge: string, body: string, headers: Record<string, string>, projectId = "prj_1") =>
  app.inject({
    method: "POST",
    url: `/hooks/${forge}/${projectId}`,
    headers: { "content-type": "application/json", ...headers },
    payload: body,
  });

it.each([
  [
    "github",
    '{"action":"closed","pull_request":{"number":7}}',
    (body: string) => ({ "x-hub-signature-256": `sha256=${sign(body)}` }),
  ],
  [
    "github",
    '{"issue":{"number":7,"pull_request":{}},"comment":{}}',
    (body: string) => ({ "x-hub-signature-256": `sha256=${sign(body)}` }),
  ],
  [
    "gitlab",
    '{"object_kind":"note","object_attributes":{"id":1},"merge_request":{"iid":7}}',
    () => ({ "x-gitlab-token": secret }),
  ],
  ["gitlab", '{"object_kind":"merge_request","object_attributes":{"iid":7}}', () => ({ "x-gitlab-token": secret })],
  ["gitea", '{"number":7,"pull_request":{"number":7}}', (body: string) => ({ "x-gitea-signature": sign(body) })],
  ["gitea", '{"issue":{"number":7},"is_pull":true}', (body: string) => ({ "x-forgejo-signature": sign(body) })],
  [
    "bitbucket",
    '{"pullrequest":{"id":7,"type":"pullrequest"},"comment":{"id":3},"repository":{},"actor":{}}',
    (body: string) => ({ "x-hub-signature": `sha256=${sign(body)}`, "x-event-key": "pullrequest:comment_created" }),
  ],
  [
    "azure-devops",
    '{"eventType":"git.pullrequest.updated","resource":{"pullRequestId":7,"status":"active"}}',
    () => basic(secret),
  ],
  [
    "azure-devops",
    '{"eventType":"ms.vss-code.git-pullrequest-comment-event","resource":{"comment":{"id":1},"pullRequest":{"pullRequestId":7}}}',
    () => basic(secret),
  ],
])("%s: a signed event about a pull request makes it be looked at: %s", async (forge, body, headers) => {
  noticed.length = 0;
  expect((await send(forge, body, headers(body))).statusCode).toBe(202);
  expect(noticed).toEqual([{ projectId: "prj_1", number: 7, isMerged: false }]);
});

/** The fields that GitHub's description requires of the event `closed`: octokit/webhooks 3a58428 of 2026-06-22. */
const closedOnGithub = { number: 7, state: "closed", closed_at: "2026-06-22T07:13:09Z" };

it.each([
  ["github", { action: "closed", number: 7, pull_request: { ...closedOnGithub, merged: true } }, { action: "edited" }],
  [
    "github",
    { action: "closed", number: 7, pull_request: { ...closedOnGithub, merged: true } },
    { pull_request: { ...closedOnGithub, merged: false } },
  ],
  [
    "gitlab",
    { object_kind: "merge_request", object_attributes: { iid: 7, action: "merge" } },
    { object_attributes: { iid: 7, action: "close" } },
  ],
  ["gitea", { action: "closed", number: 7, pull_request: { number: 7, merged: true } }, { action: "created" }],
  ["bitbucket", { pullrequest: { id: 7, state: "MERGED" } }, { pullrequest: { id: 7, state: "DECLINED" } }],
  [
    "azure-devops",
    { eventType: "git.pullrequest.merged", resource: { pullRequestId: 7, status: "completed" } },
    { resource: { pullRequestId: 7, status: "abandoned" } },
  ],
])("%s: an event says that a pull request was merged", async (forge, event, other) => {
  noticed.length = 0;
  for (const each of [event, { ...event, ...other }]) {
    const body = JSON.stringify(each);
    const signature = `sha256=${sign(body)}`;
    await send(forge, body, {
      "x-hub-signature-256": signature,
      "x-hub-signature": signature,
      "x-gitea-signature": sign(body),
      "x-gitlab-token": secret,
      ...basic(secret),
    });
  }
  expect(noticed).toEqual([true, false].map((isMerged) => ({ projectId: "prj_1", number: 7, isMerged })));
});

it.each([
  ["github", {}],
  ["github", { "x-hub-signature-256": `sha256=${sign("{}")}` }],
  ["github", { "x-gitlab-token": secret }],
  ["gitlab", { "x-gitlab-token": `${secret}0` }],
  ["gitlab", { "x-gitlab-token": hookSecretOf("s".repeat(32), "prj_2") }],
  ["gitea", { "x-gitea-signature": "" }],
  ["bitbucket", {}],
  ["bitbucket", { "x-hub-signature": `sha256=${sign("{}")}` }],
  ["bitbucket", { "x-hub-signature": sign('{"number":7}') }],
  ["bitbucket", { "x-hub-signature-256": `sha256=${sign('{"number":7}')}` }],
  ["azure-devops", {}],
  ["azure-devops", { authorization: `Bearer ${secret}` }],
  ["azure-devops", basic(`${secret}0`)],
  ["azure-devops", basic("")],
  ["azure-devops", { authorization: `Basic ${Buffer.from(secret).toString("base64")}` }],
  ["azure-devops", { "x-gitlab-token": secret }],
  ["local", { "x-gitlab-token": secret }],
])("%s: one that is not signed for this project does nothing", async (forge, headers) => {
  noticed.length = 0;
  expect((await send(forge, '{"number":7}', headers as Record<string, string>)).statusCode).toBe(401);
  expect((await send(forge, '{"ref":"refs/heads/main"}', headers as Record<string, string>)).statusCode).toBe(401);
  expect([noticed, pushed]).toEqual([[], []]);
});

it.each([
  [
    "github",
    '{"ref":"refs/heads/main","commits":[]}',
    (body: string) => ({ "x-hub-signature-256": `sha256=${sign(body)}` }),
  ],
  ["gitlab", '{"object_kind":"tag_push","ref":"refs/tags/v1"}', () => ({ "x-gitlab-token": secret })],
  ["gitea", '{"ref":"refs/heads/main"}', (body: string) => ({ "x-gitea-signature": sign(body) })],
  [
    "bitbucket",
    '{"push":{"changes":[{"new":{"type":"branch","name":"main"}}]},"repository":{},"actor":{}}',
    (body: string) => ({ "x-hub-signature": `sha256=${sign(body)}` }),
  ],
  [
    "azure-devops",
    '{"eventType":"git.push","resource":{"refUpdates":[{"name":"refs/heads/main"}]}}',
    () => basic(secret),
  ],
])("%s: a signed push makes the project's repositories be looked at", async (forge, body, headers) => {
  noticed.length = pushed.length = 0;
  const reply = await send(forge, body, headers(body));
  expect([reply.statusCode, reply.json()]).toEqual([202, { status: "noticed" }]);
  expect([noticed, pushed]).toEqual([[], ["prj_1"]]);
  pushed.length = 0;
});

const inGithub = (body: string) => ({ "x-hub-signature-256": `sha256=${sign(body)}` });
const inGitlab = () => ({ "x-gitlab-token": secret });
const inGitea = (body: string) => ({ "x-gitea-signature": sign(body) });

it.each([
  [
    "github",
    { action: "labeled", issue: { number: 7, labels: [{ name: "emend" }] }, label: { name: "emend" } },
    inGithub,
  ],
  ["github", { action: "created", issue: { number: 7, labels: [] }, comment: { body: "@emend fix" } }, inGithub],
  ["gitlab", { object_kind: "issue", object_attributes: { iid: 7 }, labels: [{ title: "Emend" }] }, inGitlab],
  ["gitlab", { object_kind: "note", object_attributes: { note: "@emend fix" }, issue: { iid: 7 } }, inGitlab],
  ["gitea", { action: "label_updated", number: 7, issue: { number: 7, labels: [{ name: "emend" }] } }, inGitea],
  ["gitea", { action: "created", issue: { number: 7 }, comment: { body: "@emend fix" }, is_pull: false }, inGitea],
])("%s: a signed event on an issue that names Emend is a request: %j", async (forge, event, headers) => {
  noticed.length = asked.length = 0;
  const body = JSON.stringify(event);
  expect((await send(forge, body, headers(body))).json()).toEqual({ status: "noticed" });
  expect([noticed, asked]).toEqual([[], [{ projectId: "prj_1", number: 7 }]]);
});

it.each([
  [
    "github",
    { action: "created", issue: { number: 7, labels: [{ name: "emend" }] }, comment: { body: "Thanks." } },
    inGithub,
  ],
  ["github", { action: "labeled", issue: { number: 7, labels: [{ name: "emendation" }] } }, inGithub],
  ["gitlab", { object_kind: "note", object_attributes: { note: "me@emendo.dev" }, issue: { iid: 7 } }, inGitlab],
])("%s: one on an issue that does not name Emend is none: %j", async (forge, event, headers) => {
  noticed.length = asked.length = 0;
  const body = JSON.stringify(event);
  expect((await send(forge, body, headers(body))).json()).toEqual({ status: "ignored" });
  expect([noticed, asked]).toEqual([[], []]);
});

it("ignores a signed one that is about something else, or no JSON", async () => {
  noticed.length = 0;
  for (const body of [
    '{"zen":"Design for failure."}',
    "payload=%7B%7D",
    '{"number":"7"}',
    '{"number":2147483648}',
    '{"pull_request":{"number":1e300}}',
    '{"ref":"v1"}',
    '{"ref":7}',
    "null",
  ]) {
    const reply = await send("github", body, { "x-hub-signature-256": `sha256=${sign(body)}` });
    expect([reply.statusCode, reply.json()]).toEqual([202, { status: "ignored" }]);
  }
  expect(noticed).toEqual([]);
});

/** Sends headers and part of the body. Returns the status, or null if there is none yet. */
async function promise(path: string, headers: Record<string, string>, bytes: number) {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.on("error", () => undefined);
  const lines = Object.entries({ host: "x", "content-length": "1000000", ...headers }).map((pair) => pair.join(": "));
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes, 32));
  const status = () => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
  return { socket, status };
}

it("an unsigned webhook, or one of no project, is refused before its body arrives", async () => {
  await app.listen({ port: 0, host: "127.0.0.1" });
  const signed = { "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
  for (const [path, headers] of [
    ["/hooks/github/prj_1", {}],
    ["/hooks/gitlab/prj_1", { "x-gitlab-token": "wrong" }],
    ["/hooks/gitea/prj_1", { "x-gitea-signature": "short" }],
    ["/hooks/github/prj_2", signed],
    ["/hooks/bitbucket/prj_1", signed],
  ] as const) {
    const { socket, status } = await promise(path, headers, 0);
    await expect.poll(status, { message: path }).toBe(401);
    socket.destroy();
  }

  // Bodies that may be signed are read while all of them together stay within the limit. The order in which the server
  // reads two connections is not defined.
  const both = [
    await promise("/hooks/github/prj_1", signed, 900_000),
    await promise("/hooks/github/prj_1", signed, 900_000),
  ];
  await expect.poll(() => both.map(({ status }) => status()).sort()).toEqual([0, 503]);
  const held = both.find(({ status }) => status() === 0);
  held?.socket.write(Buffer.alloc(100_000, 32));
  await expect.poll(() => held?.status()).toBe(401);
  for (const { socket } of both) socket.destroy();
});
