import type { FastifyReply, FastifyRequest, RequestPayload } from "fastify";
import { AppError } from "../errors.ts";

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
