import { request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "./listen.ts";

/**
 * What the clouds do differently, in front of a mock of the makers' own APIs: Vertex AI's addresses of Gemini (with a
 * key) and Claude, and the errors of Amazon Bedrock.
 */
export function startCloudDoor(mockUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  return listen((request, response) => {
    pass(mockUrl, request, response).catch(() => response.destroy());
  });
}

async function pass(mockUrl: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url ?? "";
  const claude = url.match(/^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/([^/:]+):/)?.[1];
  const body = await text(request);
  const target = claude ? "/v1/messages" : url.replace(/^\/v1\/publishers\/google\//, "/v1beta/");
  const sent = claude ? JSON.stringify({ ...JSON.parse(body), model: claude }) : body;
  const headers = { ...request.headers, "content-length": String(Buffer.byteLength(sent)) };
  const far = ask(`${mockUrl}${target}`, { method: request.method, headers }, (answer) => {
    if (url.startsWith("/model/") && answer.statusCode !== 200) {
      passError(answer, response).catch(() => response.destroy());
      return;
    }
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.on("error", () => response.destroy());
    answer.pipe(response);
  });
  far.on("error", () => response.destroy());
  response.on("close", () => far.destroy());
  far.end(sent);
}

async function passError(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const { error } = JSON.parse(await text(answer)) as { error?: { message?: string } };
  const { "content-length": _, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 500, headers);
  response.end(JSON.stringify({ message: error?.message ?? "" }));
}
