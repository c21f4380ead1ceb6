import type { ByteBudget } from "@emend/base/byte-budget.ts";
import { isSignedBySlack, readSlackRequest, type Said } from "@emend/chat";
import type { FastifyInstance } from "fastify";
import { signedRoute } from "../lib/signed-route.ts";

interface SlackHookDeps {
  signingSecret: string;
  unknownBytes: ByteBudget;
  heard(said: Said): Promise<void>;
}

/** Slack's HTTP mode: one address for events and for buttons. It answers after the event is stored. */
export function slackHookPlugin(deps: SlackHookDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) =>
    signedRoute(app, {
      path: "/hooks/slack",
      unknownBytes: deps.unknownBytes,
      refusal: "The request is not signed with Slack's signing secret.",
      mayBeSigned: ({ headers }) => /^v0=[0-9a-f]{64}$/.test(String(headers["x-slack-signature"])),
      verify: ({ headers }, body) => isSignedBySlack(deps.signingSecret, headers, body),
      async answer({ headers }, reply, { body }) {
        const read = readSlackRequest(headers["content-type"] ?? "", body);
        if ("challenge" in read) return reply.code(200).type("text/plain").send(read.challenge);
        if (read.said) await deps.heard(read.said);
        return reply.code(200).send();
      },
    });
}
