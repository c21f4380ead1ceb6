import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

/**
 * Slack on loopback, as its documentation describes the methods that Emend uses (docs.slack.dev: apps.connections.open,
 * Socket Mode's envelopes, chat.postMessage, chat.update, conversations.replies, users.info, auth.test, rate limits).
 */
export interface FarSlack {
  environment: Record<string, string>;
  /** Every message of a thread, by the time of its first one. */
  messages: FarMessage[];
  /** Method and parameters of every call. */
  calls: { method: string; input: Record<string, unknown>; at: number }[];
  /** Answers the next call of a method so: 429, no answer after its effect, or an error by its name. */
  faults: { method: string; fault: { retryAfter: number } | "lost" | { error: string } }[];
  /** What is wrong in calls, by Slack's rules. */
  violations: string[];
  /** Files that people uploaded, by the last part of their address. */
  files: Record<string, Buffer>;
  people: Record<string, { email?: string; team?: string; isConfirmed?: boolean }>;
  scopes: string[];
  /** Sends an envelope, and resolves when it is acknowledged. */
  deliver(type: "events_api" | "interactive", payload: object): Promise<void>;
  /** A person writes. Returns the message's `ts`. */
  say(said: {
    user: string;
    text: string;
    channel?: string;
    thread?: string;
    isDirect?: boolean;
    files?: readonly string[];
  }): Promise<string>;
  /** A person presses a button of a message. */
  press(user: string, message: FarMessage, value: string): Promise<void>;
  /** Ends all connections, after a word of it or without. */
  drop(how: "warning" | "silently"): void;
  /** Resolves once this is true. It is looked at after each call. */
  until<T>(look: () => T | undefined | false | null): Promise<T>;
  /** Requests and sockets of the HTTP mode: an event as a signed request's body. */
  eventOf(said: { user: string; text: string; ts: string; channel?: string; thread?: string }): object;
  connected(): Promise<void>;
  stop(): Promise<void>;
}

export interface FarMessage {
  channel: string;
  ts: string;
  thread_ts: string | undefined;
  user: string | undefined;
  bot_id: string | undefined;
  text: string;
  blocks: { type: string; block_id?: string; elements: unknown[] }[];
  edits: number;
}

const botToken = "xoxb-test-0123456789";
const appToken = "xapp-test-0123456789";
const own = "U0EMEND";
const team = "T0TEAM";

export async function startFarSlack(): Promise<FarSlack> {
  const watchers = new Set<() => void>();
  const acks = new Map<string, () => void>();
  const sockets = new Set<WebSocket>();
  const waiting: string[] = [];
  let clock = 1_700_000_000;
  const nextTs = () => {
    clock += 1;
    return `${clock}.000100`;
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? "";
    if (path.startsWith("/files-pri/")) {
      const file = far.files[path.slice("/files-pri/".length)];
      const isAllowed = request.headers.authorization === `Bearer ${botToken}` && file !== undefined;
      // Slack's login page instead of a status.
      response.writeHead(200, { "content-type": isAllowed ? "application/octet-stream" : "text/html" });
      response.end(isAllowed ? file : "<html>Log in</html>");
      return;
    }
    const method = path.replace(/^\/api\//, "");
    const input = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
    far.calls.push({ method, input, at: Date.now() });
    const index = far.faults.findIndex((one) => one.method === method);
    const fault = index === -1 ? undefined : far.faults.splice(index, 1)[0]?.fault;
    const send = (body: object, status = 200, headers: Record<string, string> = {}) => {
      response.writeHead(status, {
        "content-type": "application/json",
        "x-oauth-scopes": far.scopes.join(","),
        ...headers,
      });
      response.end(JSON.stringify(body));
      for (const watcher of watchers) watcher();
    };
    if (fault && typeof fault === "object" && "retryAfter" in fault) {
      return send({ ok: false, error: "ratelimited" }, 429, { "retry-after": String(fault.retryAfter) });
    }
    if (fault && typeof fault === "object") return send({ ok: false, error: fault.error });
    const wanted = method === "apps.connections.open" ? appToken : botToken;
    if (request.headers.authorization !== `Bearer ${wanted}`) return send({ ok: false, error: "invalid_auth" });
    const answer = answerTo(method, input);
    if (fault === "lost") {
      request.socket.destroy();
      for (const watcher of watchers) watcher();
      return;
    }
    send(answer);
  });
  const wss = new WebSocketServer({ server, path: "/link" });
  wss.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("message", (data) => acks.get(JSON.parse(String(data)).envelope_id)?.());
    socket.send(JSON.stringify({ type: "hello", num_connections: 1, connection_info: { app_id: "A1" } }));
    for (const envelope of waiting) socket.send(envelope);
    for (const watcher of watchers) watcher();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  function answerTo(method: string, input: Record<string, string>): object {
    switch (method) {
      case "apps.connections.open":
        return { ok: true, url: `ws://127.0.0.1:${port}/link` };
      case "auth.test":
        return { ok: true, user_id: own, bot_id: "B1", team_id: team, team: "Acme" };
      case "users.info": {
        const person = far.people[input.user ?? ""];
        if (!person) return { ok: false, error: "user_not_found" };
        const { email, team: of = team, isConfirmed = true } = person;
        const profile = email === undefined ? {} : { email };
        return { ok: true, user: { id: input.user, team_id: of, is_email_confirmed: isConfirmed, profile } };
      }
      case "chat.postMessage": {
        const ts = nextTs();
        const message = { ...contentOf(input), channel: input.channel ?? "", ts, edits: 0 };
        far.messages.push({ ...message, thread_ts: input.thread_ts, user: own, bot_id: "B1" });
        return { ok: true, ts, channel: input.channel };
      }
      case "chat.update": {
        const found = far.messages.find(({ ts, channel }) => ts === input.ts && channel === input.channel);
        if (!found) return { ok: false, error: "message_not_found" };
        Object.assign(found, contentOf(input), { edits: found.edits + 1 });
        return { ok: true, ts: input.ts };
      }
      case "conversations.replies": {
        const messages = far.messages.filter(
          ({ channel, ts, thread_ts }) => channel === input.channel && (ts === input.ts || thread_ts === input.ts),
        );
        return { ok: true, messages, has_more: false };
      }
      default:
        far.violations.push(`unknown method ${method}`);
        return { ok: false, error: "unknown_method" };
    }
  }

  /** By the limits of Block Kit. */
  function contentOf(input: Record<string, string>): { text: string; blocks: FarMessage["blocks"] } {
    const blocks = JSON.parse(input.blocks ?? "[]") as FarMessage["blocks"];
    if (blocks.length > 50) far.violations.push("more than 50 blocks");
    if (input.unfurl_links !== "false" || input.unfurl_media !== "false") far.violations.push("links are unfurled");
    for (const { block_id, elements } of blocks) {
      if ((block_id ?? "").length > 255) far.violations.push("a long block_id");
      if (elements.length === 0) far.violations.push("an empty block");
      for (const one of elements as { type: string; text?: { text: string }; elements?: { text?: string }[] }[]) {
        if (one.type === "button" && (one.text?.text ?? "").length > 75) far.violations.push("a long button");
        if (one.elements?.some(({ text }) => text === "")) far.violations.push("an empty text");
      }
    }
    return { text: input.text ?? "", blocks };
  }

  /** As an event names it. */
  function fileOf(name: string): object {
    const mimetype = name.endsWith(".png") ? "image/png" : "text/plain";
    const url = /^https?:/.test(name) ? name : `http://127.0.0.1:${port}/files-pri/${name}`;
    return { name, mimetype, size: far.files[name]?.length ?? 0, url_private_download: url };
  }

  const far: FarSlack = {
    environment: {
      EMEND_SLACK_BOT_TOKEN: botToken,
      EMEND_SLACK_APP_TOKEN: appToken,
      EMEND_SLACK_API_URL: `http://127.0.0.1:${port}/api/`,
    },
    messages: [],
    calls: [],
    faults: [],
    violations: [],
    files: {},
    people: {},
    scopes: [
      "app_mentions:read",
      "channels:history",
      "chat:write",
      "files:read",
      "groups:history",
      "im:history",
      "users:read",
      "users:read.email",
    ],
    async deliver(type, payload) {
      const id = randomUUID();
      const envelope = JSON.stringify({ type, envelope_id: id, payload, accepts_response_payload: false });
      const { promise, resolve } = Promise.withResolvers<void>();
      acks.set(id, () => {
        waiting.splice(waiting.indexOf(envelope), 1);
        resolve();
      });
      // Until it is acknowledged, a new connection gets it again.
      waiting.push(envelope);
      const [socket] = sockets;
      socket?.send(envelope);
      await promise;
    },
    async say({ user, text, channel = usualChannel, thread, isDirect = false, files = [] }) {
      const ts = nextTs();
      const blocks: FarMessage["blocks"] = [];
      far.messages.push({ channel, ts, thread_ts: thread, user, bot_id: undefined, text, blocks, edits: 0 });
      const of = { user, text, ts, channel, ...(thread && { thread }) };
      const body = far.eventOf(of) as { event: object };
      if (files.length > 0) Object.assign(body.event, { subtype: "file_share", files: files.map(fileOf) });
      const kind = isDirect ? "im" : "channel";
      // Slack sends a mention as two events.
      if (text.includes(`<@${own}>`) && !isDirect) {
        await far.deliver("events_api", { ...body, event: { ...body.event, type: "app_mention" } });
      }
      await far.deliver("events_api", { ...body, event: { ...body.event, channel_type: kind } });
      return ts;
    },
    async press(user, message, value) {
      await far.deliver("interactive", {
        type: "block_actions",
        user: { id: user },
        channel: { id: message.channel },
        message: { ts: message.ts, thread_ts: message.thread_ts },
        actions: [{ action_id: "answer-0", value, action_ts: nextTs() }],
      });
    },
    drop(how) {
      for (const socket of sockets) {
        if (how === "warning") socket.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested" }));
        else socket.terminate();
      }
    },
    async until(look) {
      const { promise, resolve } = Promise.withResolvers<NonNullable<ReturnType<typeof look>>>();
      const watch = () => {
        const found = look();
        if (found) resolve(found as never);
      };
      watchers.add(watch);
      watch();
      return (await promise.finally(() => watchers.delete(watch))) as never;
    },
    eventOf({ user, text, ts, channel = usualChannel, thread }) {
      const event = { type: "message", user, text, ts, channel, ...(thread && { thread_ts: thread }) };
      return {
        type: "event_callback",
        team_id: team,
        event_id: `Ev${ts}`,
        event,
        authorizations: [{ team_id: team, user_id: own, is_bot: true }],
      };
    },
    async connected() {
      await far.until(() => sockets.size > 0);
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of wss.clients) socket.terminate();
        wss.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return far;
}

const usualChannel = "C0DOCS";
export const mentionOfEmend = `<@${own}>`;
