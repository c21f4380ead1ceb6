import { readBody } from "@emend/base/network.ts";
import { ChatFault, type ChatNetwork } from "./chat.ts";

const downloadMsMax = 60_000;

/** The bytes of a file that a chat has. */
export async function downloadFile(input: {
  network: Pick<ChatNetwork, "fetch">;
  chat: string;
  url: string;
  token: string;
  name: string;
  bytesMax: number;
}): Promise<Buffer> {
  const { network, chat, url, token, name, bytesMax } = input;
  const response = await network
    .fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "manual",
      signal: AbortSignal.timeout(downloadMsMax),
    })
    .catch((cause: unknown) => {
      throw new ChatFault("chat_unavailable", {
        publicMessage: `${chat} did not send ${name}. Emend retries.`,
        retryable: true,
        cause,
      });
    });
  const isPage = response.headers.get("content-type")?.includes("text/html") ?? false;
  if (response.status === 429 || response.status >= 500) {
    throw new ChatFault("chat_unavailable", {
      publicMessage: `${chat} answered ${response.status} for ${name}. Emend retries.`,
      retryable: true,
      retryAfterMs: Number(response.headers.get("retry-after") ?? 1) * 1000,
    });
  }
  // Without the right to read files, Slack answers with its login page.
  if (response.status !== 200 || isPage) {
    throw new ChatFault("chat_refused", {
      publicMessage: `${chat} does not let Emend read ${name}. Run \`emend doctor\`.`,
    });
  }
  const length = Number(response.headers.get("content-length") ?? 0);
  const tooLarge = () =>
    new ChatFault("chat_refused", { publicMessage: `${name} is too large. A file can have ${bytesMax / 2 ** 20} MB.` });
  if (length > bytesMax) throw tooLarge();
  return readBody(response.body as AsyncIterable<Uint8Array> | null, bytesMax).catch((error: unknown) => {
    throw error instanceof ChatFault ? error : tooLarge();
  });
}
