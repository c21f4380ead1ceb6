import { createWakeUp } from "@emend/base/locks.ts";
import type { ChatNetwork, ListenDeps, Listening, Said } from "../chat.ts";

export interface MattermostSettings {
  /** Without a trailing slash. */
  url: string;
  /** Of a bot account. */
  token: string;
}

export type MattermostCall = <T>(method: "GET" | "POST" | "PUT", path: string, body?: object) => Promise<T>;

export interface MattermostPost {
  id: string;
  create_at: number;
  user_id: string;
  channel_id: string;
  /** Empty: it begins a thread. */
  root_id: string;
  message: string;
  /** Empty: a person or a bot wrote it. */
  type?: string;
  props?: { emend?: string; from_bot?: string; from_webhook?: string };
  metadata?: { files?: readonly { id: string; name: string; mime_type: string; size: number }[] };
}

interface Channel {
  id: string;
  type: string;
  last_post_at: number;
}

interface Own {
  id: string;
  username: string;
}

const pauseMs = [0, 1_000, 5_000, 15_000, 60_000] as const;
const closeMsMax = 2_000;

/**
 * Reads Mattermost's websocket. It delivers each event once only, so after each connection the posts since the last one
 * that is stored are read, too.
 */
export function listenToMattermost(
  far: { settings: MattermostSettings; call: MattermostCall; dispatcher: ChatNetwork["dispatcher"] },
  { log, heard, since }: ListenDeps,
): Listening {
  const { settings, call } = far;
  const wake = createWakeUp();
  const stopping = new AbortController();
  const listening = connectUntilStopped();

  async function connectUntilStopped(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const isOpened = await connect().catch((err) => {
        if (!stopping.signal.aborted) log.warn({ err }, "no connection to Mattermost, retrying");
        return false;
      });
      failures = isOpened ? 0 : failures + 1;
      if (!stopping.signal.aborted) await wake.wait(pauseMs[Math.min(failures, pauseMs.length - 1)] ?? 0);
    }
  }

  /** One connection, until it ends. True: it was of use. */
  async function connect(): Promise<boolean> {
    const { WebSocket } = await import("undici");
    const own = await call<Own>("GET", "/users/me");
    const url = `${settings.url.replace(/^http/, "ws")}/api/v4/websocket`;
    const socket = new WebSocket(url, far.dispatcher ? { dispatcher: far.dispatcher } : {});
    const ended = new Promise<void>((resolve) => socket.addEventListener("close", () => resolve()));
    const stop = () => socket.close();
    stopping.signal.addEventListener("abort", stop);
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => {});
    socket.addEventListener("open", () => {
      const data = { token: settings.token };
      socket.send(JSON.stringify({ seq: 1, action: "authentication_challenge", data }));
    });
    let isOpened = false;
    // In order, and none after one that could not be stored: the next connection reads from there.
    let storing: Promise<unknown> = Promise.resolve();
    socket.addEventListener("message", ({ data }) => {
      const event = JSON.parse(String(data)) as { event?: string; data?: { post?: string; channel_type?: string } };
      const { post, channel_type: type = "" } = event.data ?? {};
      storing = storing
        .then(async () => {
          if (event.event === "hello") {
            isOpened = true;
            await catchUp(own);
          }
          if (event.event === "posted" && post) await hear(JSON.parse(post), type, own);
        })
        .catch((err: unknown) => {
          broken.reject(err);
          socket.close();
          return new Promise(() => {});
        });
    });
    try {
      await Promise.race([ended, broken.promise]);
      return isOpened;
    } finally {
      stopping.signal.removeEventListener("abort", stop);
      socket.close();
    }
  }

  async function catchUp(own: Own): Promise<void> {
    const from = (await since()).getTime();
    const channels = await call<Channel[]>("GET", "/users/me/channels");
    for (const { id, type } of channels.filter((channel) => channel.last_post_at >= from)) {
      const { posts } = await call<{ posts: Record<string, MattermostPost> }>(
        "GET",
        `/channels/${id}/posts?since=${from}`,
      );
      const missed = Object.values(posts).filter(({ create_at }) => create_at >= from);
      for (const post of missed.sort((a, b) => a.create_at - b.create_at)) await hear(post, type, own);
    }
  }

  async function hear(post: MattermostPost, channelType: string, own: Own): Promise<void> {
    const said = readMattermostPost(post, channelType, own);
    if (said) await heard(said);
  }

  return {
    async stop() {
      stopping.abort();
      wake.ring();
      await Promise.race([listening, new Promise((resolve) => setTimeout(resolve, closeMsMax).unref())]);
    },
  };
}

/** Null: nothing for Emend, such as a post of a bot, or talk outside threads. */
function readMattermostPost(post: MattermostPost, channelType: string, own: Own): Said | null {
  const isOfPerson = (post.type ?? "") === "" && !post.props?.from_bot && !post.props?.from_webhook;
  if (!isOfPerson || post.user_id === own.id) return null;
  const mention = new RegExp(`(?<![\\w@])@${own.username.replaceAll(/[^\w-]/g, "\\$&")}(?![\\w-])`, "gi");
  const isDirect = channelType === "D";
  const isAddressed = isDirect || mention.test(post.message);
  if (!isAddressed && post.root_id === "") return null;
  const files = (post.metadata?.files ?? []).map((file) => ({
    name: file.name,
    type: file.mime_type,
    bytes: file.size,
    at: file.id,
  }));
  return {
    channel: post.channel_id,
    thread: post.root_id || post.id,
    message: post.id,
    author: post.user_id,
    text: post.message.replaceAll(mention, "").trim(),
    isAddressed,
    isDirect,
    pressed: null,
    ...(files.length > 0 && { files }),
  };
}
