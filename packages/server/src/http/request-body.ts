import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from "fastify";
import { AppError } from "../errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses JSON only. Our own parser, because the framework's replaces invalid UTF-8 with question marks. `JSON.parse`
 * takes the last of duplicate fields, and `__proto__` is an ordinary field. What the database cannot store is refused
 * here, in every text of every body.
 */
export function readJsonBodies(app: FastifyInstance, types: string[] = ["application/json"]): void {
  app.addContentTypeParser(
    types,
    { parseAs: "buffer" },
    (_request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void) => {
      try {
        const value = parse(body);
        refuseUnkeepable(value, 0);
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

const depthMax = 50;

function refuseUnkeepable(value: unknown, depth: number): void {
  if (typeof value === "string") refuseText(value);
  if (typeof value !== "object" || value === null) return;
  if (depth >= depthMax) throw invalid(`The body must not be nested deeper than ${depthMax} levels.`);
  for (const [key, inner] of Object.entries(value)) {
    refuseText(key);
    refuseUnkeepable(inner, depth + 1);
  }
}

function refuseText(text: string): void {
  if (text.includes("\0")) throw invalid("The body must not contain U+0000.");
  if (!text.isWellFormed()) throw invalid("The body must not contain a lone surrogate.");
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** Before the body is parsed: sends 100 Continue if the client waits for it. Refuses compressed bodies. */
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

/** In its own scope: bodies of any type are left unread. */
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
      // An invalid type would be refused before the parser is chosen.
      delete request.raw.headers["content-type"];
      done(null, payload);
    },
  );
}

/** Long enough for a client that is still sending to read its response. */
const lingerMs = 500;

/**
 * An unread body is not received forever: the connection is closed after a moment. Not a framework hook, because one
 * that runs after each response costs every GET, and most requests have no body.
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
