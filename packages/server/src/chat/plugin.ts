import type { ByteBudget } from "@emend/base/byte-budget.ts";
import { isSignedBySlack, readSlackRequest, type Said } from "@emend/chat";
import type { FastifyInstance, FastifyReply } from "fastify";
import { AppError } from "../errors.ts";

interface SlackHookDeps {
  signingSecret: string;
  /** The memory budget for bodies whose signature is not verified yet. */
  unknownBytes: ByteBudget;
  heard(said: Said): Promise<void>;
}

const bodyBytesMax = 1024 * 1024;

/** Slack's HTTP mode: one address for events and for buttons. It answers after the event is stored. */
export function slackHookPlugin(deps: SlackHookDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      "*",
      { parseAs: "buffer", bodyLimit: bodyBytesMax },
      async (_: unknown, body: unknown) => body,
    );
    const refuse = (reply: FastifyReply) =>
      reply.code(401).send({ error: "The request is not signed with Slack's signing secret." });
    app.post(
      "/hooks/slack",
      {
        // Checked before the body is read: anybody can send requests here.
        async onRequest(request, reply) {
          if (!/^v0=[0-9a-f]{64}$/.test(String(request.headers["x-slack-signature"]))) return refuse(reply);
        },
        preParsing: async (_request, reply, payload) => deps.unknownBytes.spend(payload, reply.raw, tooMuch),
      },
      async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        if (!isSignedBySlack(deps.signingSecret, request.headers, body)) return refuse(reply);
        const read = readSlackRequest(request.headers["content-type"] ?? "", body);
        if ("challenge" in read) return reply.code(200).type("text/plain").send(read.challenge);
        if (read.said) await deps.heard(read.said);
        return reply.code(200).send();
      },
    );
  };
}

function tooMuch(): AppError {
  return new AppError("unavailable", {
    publicMessage: "Too many requests arrive at once, or this one arrives too slowly. Send it again in a moment.",
    retryAfterMs: 5_000,
  });
}
