import { createHmac, timingSafeEqual } from "node:crypto";
import type { ChatFile, Said } from "../chat.ts";

// The shapes are those of Slack's Events API and of its interactive payloads (docs.slack.dev, Events API and block_actions).

interface Event {
  type?: string;
  subtype?: string;
  user?: string;
  bot_id?: string;
  text?: string;
  ts?: string;
  thread_ts?: string;
  channel?: string;
  channel_type?: string;
  files?: readonly { name?: string; mimetype?: string; size?: number; url_private_download?: string }[];
}

interface Press {
  type?: string;
  user?: { id?: string };
  channel?: { id?: string };
  message?: { ts?: string; thread_ts?: string };
  actions?: readonly { value?: string; action_ts?: string }[];
}

interface EventBody {
  event?: Event;
  authorizations?: readonly { user_id?: string }[];
}

/** With these, a message is still one that a person wrote just now. */
const subtypesOfPeople = [undefined, "file_share", "thread_broadcast"];

/** What a person said. Null: nothing for Emend, such as a message of a bot, an edit, or talk outside threads. */
export function readSlackEvent({ event, authorizations }: EventBody): Said | null {
  const { user, ts, channel, text = "" } = event ?? {};
  if (!event || !user || !ts || !channel || event.bot_id || !subtypesOfPeople.includes(event.subtype)) return null;
  if (event.type !== "app_mention" && event.type !== "message") return null;
  const own = authorizations?.[0]?.user_id;
  const isDirect = event.channel_type === "im";
  // A mention arrives as two events with one `ts`. Both must say the same, because the first one counts.
  const isMention = event.type === "app_mention" || (own !== undefined && text.includes(`<@${own}>`));
  if (!isDirect && !isMention && event.thread_ts === undefined) return null;
  return {
    channel,
    thread: event.thread_ts ?? ts,
    message: ts,
    author: user,
    text: readSlackText(text, own),
    isAddressed: isDirect || isMention,
    isDirect,
    pressed: null,
    ...filesOf(event),
  };
}

function filesOf({ files = [] }: Event): { files?: readonly ChatFile[] } {
  const read = files.map(({ name = "", mimetype = "", size = 0, url_private_download: at = "" }) => ({
    name,
    type: mimetype,
    bytes: size,
    at,
  }));
  return read.length === 0 ? {} : { files: read };
}

export function readSlackPress(press: Press): Said | null {
  const [action] = press.actions ?? [];
  const { ts, thread_ts: thread = ts } = press.message ?? {};
  const [channel, author] = [press.channel?.id, press.user?.id];
  if (press.type !== "block_actions" || !channel || !author || !thread || !action?.value || !action.action_ts)
    return null;
  const message = `press/${action.action_ts}`;
  return { channel, thread, message, author, text: "", isAddressed: true, isDirect: false, pressed: action.value };
}

/** Slack's escapes and marks as plain text, without the mention of Emend. */
export function readSlackText(text: string, own: string | undefined): string {
  return text
    .replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, target: string, label?: string) => {
      if (target === `@${own}`) return "";
      if (target.startsWith("#")) return `#${label || target.slice(1)}`;
      if (target.startsWith("@") || target.startsWith("!")) return `@${label || target.slice(1)}`;
      return label && label !== target ? `${label} (${target})` : target;
    })
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .trim();
}

/** A request of Slack's in HTTP mode: its challenge, what a person said, or null for nothing. */
export function readSlackRequest(contentType: string, body: Buffer): { challenge: string } | { said: Said | null } {
  try {
    const text = body.toString("utf8");
    if (contentType.startsWith("application/x-www-form-urlencoded")) {
      return { said: readSlackPress(JSON.parse(new URLSearchParams(text).get("payload") ?? "null") ?? {}) };
    }
    const value: EventBody & { type?: string; challenge?: unknown } = JSON.parse(text) ?? {};
    if (value.type === "url_verification") return { challenge: String(value.challenge) };
    return { said: readSlackEvent(value) };
  } catch {
    return { said: null };
  }
}

const ageSecondsMax = 300;

/** Slack's signature (v0): an HMAC of time and body. An old one may be replayed by a stranger. */
export function isSignedBySlack(
  secret: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
): boolean {
  const [at, given] = [headers["x-slack-request-timestamp"], headers["x-slack-signature"]];
  if (typeof at !== "string" || typeof given !== "string" || !/^\d{1,12}$/.test(at)) return false;
  if (Math.abs(Date.now() / 1000 - Number(at)) > ageSecondsMax) return false;
  const wanted = `v0=${createHmac("sha256", secret).update(`v0:${at}:`).update(body).digest("hex")}`;
  return given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
}
