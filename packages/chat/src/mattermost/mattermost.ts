import { readBody } from "@emend/base/network.ts";
import { type Chat, ChatFault, type ChatNetwork, type Content, type Place, type Span } from "../chat.ts";
import { downloadFile } from "../download.ts";
import { listenToMattermost, type MattermostCall, type MattermostPost, type MattermostSettings } from "./listen.ts";

interface Person {
  id: string;
  username: string;
  email?: string;
  email_verified?: boolean;
  is_bot?: boolean;
}

interface Thread {
  order: readonly string[];
  posts: Readonly<Record<string, MattermostPost>>;
}

const requestMsMax = 20_000;
const answerBytesMax = 8 * 2 ** 20;

/** Opens Mattermost by version 4 of its API. */
export function openMattermost(settings: MattermostSettings, network: ChatNetwork): Chat {
  let pausedUntilMs = 0;
  const call: MattermostCall = async (method, path, body) => {
    const leftMs = pausedUntilMs - Date.now();
    if (leftMs > 0) throw unavailable("Mattermost asks for a pause.", leftMs);
    const response = await network
      .fetch(`${settings.url}/api/v4${path}`, {
        method,
        headers: { authorization: `Bearer ${settings.token}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
        redirect: "manual",
        signal: AbortSignal.timeout(requestMsMax),
      })
      .catch((cause: unknown) => {
        throw unavailable("Mattermost did not answer.", 0, cause);
      });
    const text = (await readBody(response.body as AsyncIterable<Uint8Array> | null, answerBytesMax)).toString("utf8");
    if (response.status >= 200 && response.status < 300) return JSON.parse(text);
    if (response.status === 429) {
      const retryAfterMs = Number(response.headers.get("retry-after") ?? 1) * 1000;
      pausedUntilMs = Date.now() + retryAfterMs;
      throw unavailable("Mattermost asks for a pause.", retryAfterMs);
    }
    if (response.status >= 500 || response.status === 401) {
      throw unavailable(`Mattermost answered ${response.status} to ${method} ${path}.`, 0);
    }
    throw new ChatFault("chat_refused", {
      publicMessage: `Mattermost answered ${response.status} to ${method} ${path}.`,
    });
  };
  const threadOf = ({ thread }: Place) => call<Thread>("GET", `/posts/${encodeURIComponent(thread)}/thread`);

  return {
    name: "mattermost",
    listen: (deps) => listenToMattermost({ settings, call, dispatcher: network.dispatcher }, deps),
    async post({ channel, thread }, id, content) {
      const post = { channel_id: channel, root_id: thread, message: markdownOf(content), props: { emend: id } };
      return (await call<MattermostPost>("POST", "/posts", post)).id;
    },
    async edit(_place, message, id, content) {
      const changed = { message: markdownOf(content), props: { emend: id } };
      await call("PUT", `/posts/${encodeURIComponent(message)}/patch`, changed).catch((error: unknown) => {
        // Somebody deleted it.
        if (!(error instanceof ChatFault && error.code === "chat_refused")) throw error;
      });
    },
    async find(place, id) {
      const { posts } = await threadOf(place);
      return Object.values(posts).find(({ props }) => props?.emend === id)?.id ?? null;
    },
    async read(place) {
      const { order, posts } = await threadOf(place);
      return order
        .map((id) => posts[id])
        .filter((post) => post !== undefined)
        .filter(({ type, props }) => (type ?? "") === "" && props?.emend === undefined)
        .sort((a, b) => a.create_at - b.create_at)
        .map(({ id, user_id, message }) => ({ author: user_id, message: id, text: message }));
    },
    download({ at, name }, bytesMax) {
      const url = `${settings.url}/api/v4/files/${encodeURIComponent(at)}`;
      return downloadFile({ network, chat: "Mattermost", url, token: settings.token, name, bytesMax });
    },
    async emailOf(account) {
      const person = await call<Person>("GET", `/users/${encodeURIComponent(account)}`);
      // By default people can enter any address there. Only administrators' bots see whether it was verified.
      return person.email_verified === true && !person.is_bot ? (person.email ?? null) : null;
    },
    async findProblems() {
      const own = await call<Person>("GET", "/users/me").catch((error: Error) => error);
      if (!(own instanceof Error))
        return own.is_bot ? [] : ["EMEND_MATTERMOST_TOKEN is not the token of a bot account"];
      return [own instanceof ChatFault ? own.publicMessage : own.message];
    },
  };
}

function unavailable(publicMessage: string, retryAfterMs: number, cause?: unknown): ChatFault {
  return new ChatFault("chat_unavailable", {
    publicMessage: `${publicMessage} Emend retries.`,
    retryable: true,
    ...(retryAfterMs > 0 && { retryAfterMs }),
    cause,
  });
}

/** Its buttons would call Emend at a public address, which it may not have: options are listed, and a reply answers. */
function markdownOf({ lines, buttons }: Content): string {
  const options = buttons.map(({ label }) => `- ${plain(label)}`);
  return [...lines.map((line) => line.map(markOf).join("")), ...options].join("\n").slice(0, 10_000);
}

function markOf(span: Span): string {
  if (typeof span === "string") return plain(span);
  if ("strong" in span) return `**${plain(span.strong)}**`;
  return `[${plain(span.link)}](${span.to.replaceAll(/[()\s]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)})`;
}

/** No markup, no mention, and no address that Mattermost would load for a preview. */
function plain(text: string): string {
  return text
    .replaceAll(/[\\`*_{}[\]()#+\-!~|<>]/g, "\\$&")
    .replaceAll(/@(?=\S)/g, "@ ")
    .replaceAll("://", ": //")
    .replaceAll(/\bwww\./gi, "www ");
}
