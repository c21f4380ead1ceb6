import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from "fastify";
import { AppError } from "../errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads JSON and nothing else. Own code, because the framework's turns bytes that are not UTF-8 into question marks.
 * `JSON.parse` takes the last of duplicate fields, and a field named `__proto__` is a field like any other.
 * `refuseBad` throws where the caller takes less than all JSON.
 */
export function readJsonBodies(app: FastifyInstance, refuseBad: (body: unknown) => void = () => {}): void {
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    (_request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void) => {
      try {
        const value = parse(body);
        refuseBad(value);
        done(null, value);
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(body));
  } catch (cause) {
    throw new AppError("invalid_request", { publicMessage: "The body is not valid JSON in UTF-8.", cause });
  }
}

/** Before a body is parsed: only now is the client asked for one that it announced, and never for a compressed one. */
export function takeBody(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: RequestPayload,
  done: (error: AppError | null, payload?: RequestPayload) => void,
): void {
  if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
    done(
      new AppError("unsupported_media_type", {
        publicMessage: "Compressed bodies are not supported. Send the body without Content-Encoding.",
      }),
    );
    return;
  }
  if (/^100-continue$/i.test(request.headers.expect ?? "")) reply.raw.writeContinue();
  done(null, payload);
}

/** In a scope of its own: there a body, of whatever type, is left unread. */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request: FastifyRequest, _payload: unknown, done: (error: null) => void) =>
    done(null),
  );
  app.addHook(
    "preParsing",
    (
      request: FastifyRequest,
      _reply: FastifyReply,
      payload: RequestPayload,
      done: (error: null, payload: RequestPayload) => void,
    ) => {
      // A type that makes no sense would be refused before the parser is chosen.
      delete request.raw.headers["content-type"];
      done(null, payload);
    },
  );
}

/** Long enough for a client that is still sending to read its answer. */
const lingerMs = 500;

/**
 * A body that was answered without being read is not taken in for ever: the connection is cut after a moment. No hook of
 * the framework, since one that runs after each answer costs every GET, and most requests have no body at all.
 */
export function cutUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers } = request;
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return;
  response.once("finish", () => {
    if (request.complete) return;
    const timer = setTimeout(() => {
      if (!request.complete) request.socket.destroy();
    }, lingerMs);
    request.once("close", () => clearTimeout(timer));
  });
}
