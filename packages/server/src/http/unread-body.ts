import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from "fastify";

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
