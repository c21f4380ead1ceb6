import type { KnownBlock, LogLevel, WebClient } from "@slack/web-api";
import { type Chat, ChatFault, type ChatNetwork, type Content, type Place, plainOf, type Span } from "../chat.ts";
import { downloadFile } from "../download.ts";
import { listenToSlack } from "./listen.ts";
import { readSlackText } from "./read-slack.ts";

export interface SlackSettings {
  /** `xoxb-…` */
  botToken: string;
  /** `xapp-…`, for Socket Mode. Null: Slack calls Emend. */
  appToken: string | null;
  /** For HTTP mode. Null: only Socket Mode. */
  signingSecret: string | null;
  /** Null: Slack's own. */
  apiUrl: string | null;
}

/** What the manifest in docs/slack.md asks for. */
export const slackScopes = [
  "app_mentions:read",
  "channels:history",
  "chat:write",
  "files:read",
  "groups:history",
  "im:history",
  "users:read",
  "users:read.email",
] as const;

/** Nothing is lost there, so Emend keeps it: the operator can repair the settings. */
const settingsErrors = [
  "invalid_auth",
  "not_authed",
  "token_revoked",
  "token_expired",
  "account_inactive",
  "missing_scope",
];
const passingErrors = ["internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited"];
const goneErrors = ["message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"];
const requestMsMax = 20_000;
const pagesMax = 10;
const labelMax = 75;

/** Opens Slack by its official SDK, which is loaded only now. */
export async function openSlack(settings: SlackSettings, network: ChatNetwork): Promise<Chat> {
  const sdk = await import("@slack/web-api");
  const options = {
    ...(settings.apiUrl !== null && { slackApiUrl: settings.apiUrl }),
    fetch: network.fetch,
    timeout: requestMsMax,
    // Retries are ours: they survive a restart, and Slack's Retry-After holds for all nodes' tasks.
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: silent,
  };
  const web = new sdk.WebClient(settings.botToken, options);
  /** Until when Slack wants no call of a method. */
  const pauses = new Map<string, number>();
  let team: Promise<string> | null = null;

  async function call<T>(method: string, send: (client: WebClient) => Promise<T>): Promise<T> {
    const leftMs = (pauses.get(method) ?? 0) - Date.now();
    if (leftMs > 0) throw limited(leftMs);
    try {
      return await send(web);
    } catch (error) {
      if (error instanceof sdk.WebAPIRateLimitedError) {
        pauses.set(method, Date.now() + error.retryAfter * 1000);
        throw limited(error.retryAfter * 1000);
      }
      const code = error instanceof sdk.WebAPIPlatformError ? error.data.error : null;
      const isSettings = code !== null && settingsErrors.includes(code);
      const isPassing = code === null || passingErrors.includes(code);
      throw new ChatFault(isPassing || isSettings ? "chat_unavailable" : "chat_refused", {
        publicMessage:
          code === null
            ? "Slack did not answer. Emend retries."
            : `Slack refused ${method}: ${code}.${adviceFor(code)}`,
        retryable: isPassing || isSettings,
        cause: error,
      });
    }
  }

  async function ownTeam(): Promise<string> {
    team ??= call("auth.test", (client) => client.auth.test()).then((answer) => answer.team_id ?? "");
    return team.catch((error) => {
      team = null;
      throw error;
    });
  }

  async function* replies({ channel, thread }: Place, since?: Date) {
    let cursor: string | undefined;
    for (let page = 0; page < pagesMax; page += 1) {
      const answer = await call("conversations.replies", (client) =>
        client.conversations.replies({
          channel,
          ts: thread,
          limit: 200,
          ...(since && { oldest: (since.getTime() / 1000).toFixed(6) }),
          ...(cursor && { cursor }),
        }),
      );
      yield* answer.messages ?? [];
      cursor = answer.response_metadata?.next_cursor;
      if (!cursor) return;
    }
  }

  return {
    name: "slack",
    listen:
      settings.appToken === null
        ? null
        : (deps) => listenToSlack({ appToken: settings.appToken ?? "", options, dispatcher: network.dispatcher }, deps),
    async post({ channel, thread }, id, content) {
      const answer = await call("chat.postMessage", (client) =>
        client.chat.postMessage({ channel, thread_ts: thread, ...messageOf(id, content), ...quiet }),
      );
      return answer.ts ?? "";
    },
    async edit({ channel }, message, id, content) {
      await call("chat.update", (client) =>
        client.chat.update({ channel, ts: message, ...messageOf(id, content), ...quiet }),
      ).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
    },
    async find(place, id, since) {
      for await (const message of replies(place, since)) {
        const isIt = message.blocks?.some((block) => block.block_id === id);
        if (isIt && message.ts) return message.ts;
      }
      return null;
    },
    async read(place) {
      const read = [];
      for await (const { user, bot_id, ts, text } of replies(place)) {
        if (user && !bot_id && ts) read.push({ author: user, message: ts, text: readSlackText(text ?? "", undefined) });
      }
      return read;
    },
    async download({ at, name }, bytesMax) {
      // The token goes to Slack alone, whatever an event says.
      const origins = [
        "https://files.slack.com",
        ...(settings.apiUrl === null ? [] : [new URL(settings.apiUrl).origin]),
      ];
      const url = URL.parse(at);
      if (!url || !origins.includes(url.origin)) throw unknownFile(name);
      return downloadFile({ network, chat: "Slack", url: url.href, token: settings.botToken, name, bytesMax });
    },
    async emailOf(account) {
      const { user } = await call("users.info", (client) => client.users.info({ user: account }));
      // Another workspace's administrators decide what its people's addresses are (Slack Connect).
      const isOwn = user?.team_id === (await ownTeam()) && !user?.is_bot && !user?.deleted;
      const isConfirmed = (user as { is_email_confirmed?: boolean } | undefined)?.is_email_confirmed !== false;
      return isOwn && isConfirmed ? (user?.profile?.email ?? null) : null;
    },
    async findProblems() {
      const bot = await call("auth.test", (client) => client.auth.test()).catch((error: Error) => error);
      if (bot instanceof Error) return [`EMEND_SLACK_BOT_TOKEN: ${wordsFor(bot)}`];
      const granted = bot.response_metadata?.scopes ?? [];
      const missing = slackScopes.filter((scope) => !granted.includes(scope));
      const problems =
        missing.length === 0
          ? []
          : [`the app lacks ${missing.join(", ")}. Update it with the manifest in docs/slack.md, and reinstall it`];
      if (settings.appToken === null) return problems;
      const app = new sdk.WebClient(settings.appToken, options);
      const open = await call("apps.connections.open", () => app.apps.connections.open({})).catch(
        (error: Error) => error,
      );
      return open instanceof Error ? [...problems, `EMEND_SLACK_APP_TOKEN: ${wordsFor(open)}`] : problems;
    },
  };
}

function unknownFile(name: string): ChatFault {
  return new ChatFault("chat_refused", { publicMessage: `Slack does not have ${name} itself. Upload it there.` });
}

/** Its errors are thrown, too; its log would go to the console. */
const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => "error" as LogLevel,
  setName() {},
};

/** A model's words can contain a link, and Slack would load it to show a preview: data would leave in its address. */
const quiet = { unfurl_links: false, unfurl_media: false, parse: "none", link_names: false } as const;

function messageOf(id: string, content: Content): { text: string; blocks: KnownBlock[] } {
  const escaped = plainOf(content).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const lines = content.lines.flatMap((line, index) => [...(index === 0 ? [] : ["\n"]), ...line]);
  return {
    text: escaped.slice(0, 3_000),
    blocks: [
      // Rich text is never parsed: only what is a link here is a link there.
      {
        type: "rich_text",
        block_id: id,
        elements: [{ type: "rich_text_section", elements: lines.filter((span) => span !== "").map(elementOf) }],
      },
      ...(content.buttons.length === 0
        ? []
        : [
            {
              type: "actions" as const,
              elements: content.buttons.map(({ label, value }, index) => ({
                type: "button" as const,
                action_id: `answer-${index}`,
                text: { type: "plain_text" as const, text: label.slice(0, labelMax), emoji: false },
                value,
              })),
            },
          ]),
    ],
  };
}

function elementOf(span: Span) {
  if (typeof span === "string") return { type: "text" as const, text: span };
  if ("link" in span) return { type: "link" as const, url: span.to, text: span.link };
  return { type: "text" as const, text: span.strong, style: { bold: true } };
}

function limited(retryAfterMs: number): ChatFault {
  return new ChatFault("chat_unavailable", {
    publicMessage: "Slack asks for a pause. Emend continues after it.",
    retryable: true,
    retryAfterMs,
    isRateLimit: true,
  });
}

function adviceFor(code: string): string {
  if (code === "not_in_channel" || code === "channel_not_found")
    return " Invite the app to the channel: /invite @emend.";
  return settingsErrors.includes(code) ? " Check the tokens: run `emend doctor`." : "";
}

function isGone(error: unknown): boolean {
  const { data } = ((error as Error).cause ?? {}) as { data?: { error?: string } };
  return goneErrors.includes(data?.error ?? "");
}

function wordsFor(error: Error): string {
  return error instanceof ChatFault ? error.publicMessage : error.message;
}
