import { createWakeUp } from "@emend/base/locks.ts";
import type { WebClientOptions } from "@slack/web-api";
import type { ChatNetwork, ListenDeps, Listening, Said } from "../chat.ts";
import { readSlackEvent, readSlackPress } from "./read-slack.ts";

interface SocketInput {
  appToken: string;
  options: WebClientOptions;
  dispatcher: ChatNetwork["dispatcher"];
}

const pauseMs = [0, 1_000, 5_000, 15_000, 60_000] as const;
const closeMsMax = 2_000;

/**
 * Socket Mode: Emend connects to Slack, so it needs no public address. Reconnecting is done here, because the SDK's own
 * way leaves a rejected promise without a handler, which ends the process.
 */
export function listenToSlack({ appToken, options, dispatcher }: SocketInput, { log, heard }: ListenDeps): Listening {
  const wake = createWakeUp();
  const stopping = new AbortController();
  let close: () => Promise<unknown> = async () => {};
  const listening = connectUntilStopped();

  async function connectUntilStopped(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      const retryAfterMs = await connect().catch((err) => {
        if (!stopping.signal.aborted) log.warn({ err }, "no connection to Slack, retrying");
        return ((err as { retryAfter?: number } | undefined)?.retryAfter ?? 0) * 1000;
      });
      if (stopping.signal.aborted) return;
      failures = retryAfterMs === null || Date.now() - startedAt > 60_000 ? 0 : failures + 1;
      await wake.wait(Math.max(pauseMs[Math.min(failures, pauseMs.length - 1)] ?? 0, retryAfterMs ?? 0));
    }
  }

  /** One connection, until it ends. Null: Slack ended it in the usual way, as it does every few hours. */
  async function connect(): Promise<null> {
    const { SocketModeClient } = await import("@slack/socket-mode");
    const client = new SocketModeClient({
      appToken,
      autoReconnectEnabled: false,
      clientOptions: { ...options },
      ...(options.logger && { logger: options.logger }),
      ...(dispatcher && { dispatcher }),
    });
    client.on("slack_event", async ({ ack, type, body }) => {
      try {
        const said = saidIn(type, body);
        if (said) await heard(said);
        await ack();
      } catch (err) {
        // Without an acknowledgement Slack delivers it again.
        log.warn({ err }, "an event of Slack could not be stored");
      }
    });
    const ended = new Promise<void>((resolve) => client.on("disconnected", () => resolve()));
    close = () => Promise.race([client.disconnect(), wait(closeMsMax)]);
    if (stopping.signal.aborted) return null;
    await client.start();
    if (stopping.signal.aborted) await close();
    await ended;
    return null;
  }

  return {
    async stop() {
      stopping.abort();
      wake.ring();
      await close();
      await Promise.race([listening, wait(closeMsMax)]);
    },
  };
}

function saidIn(type: string, body: object): Said | null {
  if (type === "events_api") return readSlackEvent(body);
  return type === "interactive" ? readSlackPress(body) : null;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
