import type { Logger } from "@emend/base/logger.ts";
import type { Fetch, Network } from "@emend/base/network.ts";
import type { Chat, ChatName, Listening, MattermostSettings, SlackSettings } from "@emend/chat";
import type { Pool } from "../db/pool.ts";
import { lastHeardAt, storeChatMessage } from "./chat-store.ts";
import type { ChatDeps } from "./hear-chat.ts";

export interface ChatSettings {
  slack: SlackSettings | null;
  mattermost: MattermostSettings | null;
  network: Network;
}

type ChatNetwork = Parameters<typeof import("@emend/chat")["openSlack"]>[1];

/** Those that are configured. */
export function chatNamesOf({ slack, mattermost }: Pick<ChatSettings, "slack" | "mattermost">): readonly ChatName[] {
  return [...(slack ? (["slack"] as const) : []), ...(mattermost ? (["mattermost"] as const) : [])];
}

/** Opens each chat once, when it is used: nothing of a chat is loaded where none is configured. */
export function openChat(
  settings: ChatSettings,
  network: { fetch: Fetch; dispatcher(): Promise<ChatNetwork["dispatcher"]> },
): ChatDeps["openChat"] {
  const opened = new Map<ChatName, Promise<Chat>>();
  const { httpsProxy, httpProxy, caFile } = settings.network;
  async function open(name: ChatName): Promise<Chat> {
    const { openMattermost, openSlack } = await import("@emend/chat");
    const reach: ChatNetwork = {
      fetch: network.fetch as unknown as typeof globalThis.fetch,
      // Without a reason, the clients' own: they can end a connection that hangs.
      dispatcher: httpsProxy || httpProxy || caFile ? await network.dispatcher() : undefined,
    };
    if (name === "slack" && settings.slack) return openSlack(settings.slack, reach);
    if (name === "mattermost" && settings.mattermost) return openMattermost(settings.mattermost, reach);
    throw new Error(`${name} is not configured`);
  }
  return async (name) => {
    if (!chatNamesOf(settings).includes(name)) return null;
    const chat = opened.get(name) ?? open(name);
    opened.set(name, chat);
    return chat;
  };
}

/** Nothing older is caught up with. */
const missedMsMax = 24 * 3_600_000;
const overlapMs = 300_000;

/** Listens to every configured chat that Emend connects to. */
export async function startChats(
  deps: { pool: Pool; log: Logger; open: ChatDeps["openChat"]; onStored(): void },
  settings: ChatSettings,
): Promise<Listening> {
  const { pool, log } = deps;
  const chats = await Promise.all(chatNamesOf(settings).map(deps.open));
  const listening = chats.map((chat) =>
    chat?.listen?.({
      log,
      async heard(said) {
        if (await storeChatMessage(pool, chat.name, said)) deps.onStored();
      },
      async since() {
        const last = (await lastHeardAt(pool, chat.name))?.getTime() ?? Date.now();
        return new Date(Math.max(last - overlapMs, Date.now() - missedMsMax));
      },
    }),
  );
  return {
    async stop() {
      await Promise.all(listening.map((one) => one?.stop()));
    },
  };
}
