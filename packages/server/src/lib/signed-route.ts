import type { ByteBudget } from "@emend/base/byte-budget.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";

interface SignedRoute<Params> {
  path: string;
  /** The memory budget for bodies whose signature is not verified yet. */
  unknownBytes: ByteBudget;
  /** Says what must sign a request; the answer to all that is not signed so. */
  refusal: string;
  bodyBytesMax?: number;
  /** Whether to read the body at all: anybody can send requests here. */
  mayBeSigned(request: FastifyRequest<{ Params: Params }>): boolean | Promise<boolean>;
  isSigned(request: FastifyRequest<{ Params: Params }>, body: Buffer): boolean | Promise<boolean>;
  answer(request: FastifyRequest<{ Params: Params }>, reply: FastifyReply, body: Buffer): Promise<FastifyReply>;
}

/** A route for programs without a key, whose requests are signed. */
export function signedRoute<Params>(app: FastifyInstance, route: SignedRoute<Params>): void {
  const { path, unknownBytes, refusal, bodyBytesMax = 1024 * 1024 } = route;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: bodyBytesMax },
    async (_: unknown, body: unknown) => body,
  );
  const refuse = (reply: FastifyReply) => reply.code(401).send({ error: refusal });
  app.post<{ Params: Params }>(
    path,
    {
      // Checked before the body is read.
      async onRequest(request, reply) {
        if (!(await route.mayBeSigned(request as FastifyRequest<{ Params: Params }>))) return refuse(reply);
      },
      preParsing: async (_request, reply, payload) => unknownBytes.spend(payload, reply.raw, tooMuch),
    },
    async (given, reply) => {
      const request = given as FastifyRequest<{ Params: Params }>;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      if (!(await route.isSigned(request, body))) return refuse(reply);
      return route.answer(request, reply, body);
    },
  );
}

function tooMuch(): AppError {
  return new AppError("unavailable", {
    publicMessage: "Too many webhooks arrive at once, or this one arrives too slowly. Send it again in a moment.",
    retryAfterMs: 5_000,
  });
}
