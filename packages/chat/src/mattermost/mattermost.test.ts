import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger } from "@emend/base/logger.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import type { Chat, Listening, Said } from "../chat.ts";
import type { MattermostPost } from "./listen.ts";
import { openMattermost } from "./mattermost.ts";

/**
 * Mattermost on loopback, as version 4 of its API describes it: users, posts, threads, channels' posts, the websocket's
 * authentication_challenge, hello and posted (api.mattermost.com).
 */
const own = { id: "bot1", username: "emend", is_bot: true };
const token = "k3yk3yk3y";
let posts: MattermostPost[];
let calls: string[];
let limits: number[];
let refusals: number[];
let people: Record<string, object>;
let heard: Said[];
let since: Date;
let failsToStore: boolean;
let listening: Listening | undefined;
let chat: Chat;
let sockets: WebSocketServer;
let close: () => Promise<void>;
let arrived: () => void;

beforeEach(async () => {
  [posts, calls, limits, refusals, heard, failsToStore] = [[], [], [], [], [], false];
  people = {
    u1: { id: "u1", email: "ada@example.com", email_verified: true },
    u2: { id: "u2", email: "ada@example.com" },
  };
  since = new Date(0);
  arrived = () => {};
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = (request.url ?? "").replace("/api/v4", "");
    calls.push(`${request.method} ${path}`);
    const answer = (status: number, body: object, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    };
    const limit = limits.shift();
    if (limit !== undefined) return answer(429, {}, { "retry-after": String(limit) });
    const refusal = refusals.shift();
    if (refusal !== undefined) return answer(refusal, {});
    if (request.headers.authorization !== `Bearer ${token}`) return answer(401, {});
    const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const [, first, id = "", last] = path.split("?")[0]?.split("/") ?? [];
    if (first === "files") {
      if (id !== "f1") return answer(404, {});
      return response.writeHead(200, { "content-type": "image/png" }).end(Buffer.alloc(100, 1));
    }
    if (path === "/users/me") return answer(200, own);
    if (path === "/users/me/channels") return answer(200, [{ id: "c1", type: "O", last_post_at: Date.now() + 1e6 }]);
    if (first === "users") return people[id] ? answer(200, people[id]) : answer(404, {});
    if (first === "channels")
      return answer(200, { order: [], posts: Object.fromEntries(posts.map((post) => [post.id, post])) });
    if (path === "/posts") {
      const post = { ...body, id: `p${posts.length + 1}`, user_id: own.id, create_at: Date.now(), type: "" };
      posts.push(post);
      return answer(201, post);
    }
    if (last === "patch") {
      const found = posts.find((post) => post.id === id);
      return found ? answer(200, Object.assign(found, body)) : answer(404, {});
    }
    const thread = posts.filter((post) => post.id === id || post.root_id === id);
    return answer(200, {
      order: thread.map((post) => post.id),
      posts: Object.fromEntries(thread.map((post) => [post.id, post])),
    });
  });
  sockets = new WebSocketServer({ server, path: "/api/v4/websocket" });
  sockets.on("connection", (socket) => {
    socket.on("message", (data) => {
      const { action, data: given } = JSON.parse(String(data));
      if (action !== "authentication_challenge" || given.token !== token) return socket.close();
      socket.send(JSON.stringify({ event: "hello", data: {}, seq: 0 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  chat = openMattermost({ url, token }, { fetch });
  close = () =>
    new Promise((resolve) => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close(() => resolve());
      server.closeAllConnections();
    });
});
afterEach(async () => {
  await listening?.stop();
  await close();
});

const write = (user: string, message: string, more: Partial<MattermostPost> = {}) => {
  const post = {
    id: `p${posts.length + 1}`,
    create_at: Date.now(),
    user_id: user,
    channel_id: "c1",
    root_id: "",
    message,
    ...more,
  };
  posts.push(post);
  return post;
};
const deliver = (post: MattermostPost, type = "O") => {
  const event = { event: "posted", data: { post: JSON.stringify(post), channel_type: type }, seq: 1 };
  for (const socket of sockets.clients) socket.send(JSON.stringify(event));
};
/** Until so many were stored. */
const stored = (count: number) =>
  new Promise<void>((resolve) => {
    arrived = () => heard.length >= count && resolve();
    arrived();
  });
const listen = () => {
  listening = chat.listen?.({
    log: createLogger({ level: "silent" }),
    async heard(said) {
      if (failsToStore) {
        failsToStore = false;
        throw new Error("the database is unavailable");
      }
      heard.push(said);
      arrived();
    },
    since: async () => since,
  });
};

test("hears of files beside a post, and reads them up to a size", async () => {
  const files = [{ id: "f1", name: "login.png", mime_type: "image/png", size: 100 }];
  write("u1", "@emend Show it.", { metadata: { files } });
  listen();
  await stored(1);
  const [file] = heard[0]?.files ?? [];
  expect(file).toEqual({ name: "login.png", type: "image/png", bytes: 100, at: "f1" });
  if (!file) throw new Error("no file");
  expect(await chat.download(file, 100)).toEqual(Buffer.alloc(100, 1));
  await expect(chat.download(file, 99)).rejects.toMatchObject({ code: "chat_refused" });
  await expect(chat.download({ ...file, at: "../users/me" }, 99)).rejects.toMatchObject({ code: "chat_refused" });
  limits = [2];
  await expect(chat.download(file, 100)).rejects.toMatchObject({ code: "chat_unavailable", retryAfterMs: 2_000 });
});

test("hears mentions, threads and direct messages of people, and nothing of bots", async () => {
  write("u1", "@emend Say it.");
  listen();
  await stored(1);
  deliver(write("u1", "Talk outside threads."));
  deliver(write("bot2", "@emend Loop.", { props: { from_bot: "true" } }));
  deliver(write("u1", "joined", { type: "system_join_channel" }));
  deliver(write("u2", "And this.", { root_id: "p1" }));
  deliver(write("u1", "Hello", { channel_id: "d1" }), "D");
  deliver(write("u1", "mail @emendation"));
  deliver(write("u1", "Please, @Emend, fix it."));
  await stored(4);
  expect(heard.map(({ text, isAddressed, isDirect, thread }) => [text, isAddressed, isDirect, thread])).toEqual([
    ["Say it.", true, false, "p1"],
    ["And this.", false, false, "p1"],
    ["Hello", true, true, "p6"],
    ["Please, , fix it.", true, false, "p8"],
  ]);
});

test("reads what was written while it was not connected, and again what it could not store", async () => {
  write("u1", "@emend Too old.", { create_at: 1 });
  since = new Date(1_000);
  write("u1", "@emend Missed.");
  failsToStore = true;
  listen();
  await stored(1);
  for (const socket of sockets.clients) socket.terminate();
  write("u1", "@emend Missed too.");
  await stored(3);
  // The first one again: who stores it knows it by its id.
  expect(heard.map(({ text }) => text)).toEqual(["Missed.", "Missed.", "Missed too."]);
});

test("posts, edits and finds its posts, with words that mention and load nothing", async () => {
  const root = write("u1", "@emend Say it.");
  const at = { channel: "c1", thread: root.id };
  const words = "@channel ![x](https://evil.test/a) **b** www.evil.test";
  const message = await chat.post(at, "chp_1", {
    lines: [[words], [{ link: "a)b", to: "https://a.test/(x)" }]],
    buttons: [{ label: "5", value: "1/0" }],
  });
  expect(posts.at(-1)).toMatchObject({ channel_id: "c1", root_id: root.id, props: { emend: "chp_1" } });
  expect(posts.at(-1)?.message).toBe(
    "@ channel \\!\\[x\\]\\(https: //evil.test/a\\) \\*\\*b\\*\\* www evil.test\n[a\\)b](https://a.test/%28x%29)\n- 5",
  );
  expect(await chat.find(at, "chp_1", new Date())).toBe(message);
  expect(await chat.find(at, "chp_2", new Date())).toBeNull();
  await chat.edit(at, message, "chp_1", { lines: [["Done."]], buttons: [] });
  expect(posts.at(-1)?.message).toBe("Done.");
  expect(await chat.read(at)).toEqual([{ author: "u1", message: root.id, text: "@emend Say it." }]);
  // Somebody deleted it.
  await chat.edit(at, "p99", "chp_9", { lines: [["Done."]], buttons: [] });
});

test("only a verified address counts, pauses are respected, and the token is checked", async () => {
  expect([await chat.emailOf("u1"), await chat.emailOf("u2")]).toEqual(["ada@example.com", null]);
  expect(await chat.findProblems()).toEqual([]);
  refusals.push(502);
  await expect(chat.emailOf("u1")).rejects.toMatchObject({ retryable: true });
  limits.push(60);
  await expect(chat.emailOf("u1")).rejects.toMatchObject({ retryable: true, retryAfterMs: 60_000 });
  const before = calls.length;
  await expect(chat.emailOf("u1")).rejects.toMatchObject({ retryable: true });
  expect(calls).toHaveLength(before);
});
