import type { ByteBudget } from "@emend/base/byte-budget.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";

interface SignedRoute<Params, Signed> {
  path: string;
  /** The memory budget for bodies whose signature is not verified yet. */
  unknownBytes: ByteBudget;
  /** Says what must sign a request; the answer to all that is not signed so. */
  refusal: string;
  bodyBytesMax?: number;
  /** Whether to read the body at all: anybody can send requests here. */
  mayBeSigned(request: FastifyRequest<{ Params: Params }>): boolean | Promise<boolean>;
  /** What the signature proves; nothing if it is wrong. */
  verify(request: FastifyRequest<{ Params: Params }>, body: Buffer): Signed | Promise<Signed>;
  answer(
    request: FastifyRequest<{ Params: Params }>,
    reply: FastifyReply,
    signed: { body: Buffer; by: NonNullable<Exclude<Signed, false>> },
  ): Promise<FastifyReply>;
}

/** A route for programs without a key, whose requests are signed. */
export function signedRoute<Params, Signed = boolean>(app: FastifyInstance, route: SignedRoute<Params, Signed>): void {
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
      const by = await route.verify(request, body);
      if (!by) return refuse(reply);
      return route.answer(request, reply, { body, by: by as NonNullable<Exclude<Signed, false>> });
    },
  );
}

function tooMuch(): AppError {
  return new AppError("unavailable", {
    publicMessage: "Too many webhooks arrive at once, or this one arrives too slowly. Send it again in a moment.",
    retryAfterMs: 5_000,
  });
}
