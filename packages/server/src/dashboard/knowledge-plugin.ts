import type { Logger } from "@emend/base/logger.ts";
import { describeClient, KnowledgeFault } from "@emend/knowledge";
import type { FastifyInstance, FastifyReply } from "fastify";
import { grantClientOf } from "../accounts/projects/knowledge-grants.ts";
import { AppError } from "../errors.ts";
import { aboutRequest } from "../http/errors.ts";
import { plainPages, sendPage } from "./plain-page.ts";

export interface KnowledgePluginDeps {
  log: Logger;
  publicUrl(): string;
  /** Takes a person's answer. Throws an AppError or a KnowledgeFault if it gives no access. */
  take(answer: { state: string; code: string | null; issuer: string | undefined }): Promise<{ name: string }>;
}

/** Where a person's browser brings a knowledge server's answer, and what such servers read about Emend. */
export function knowledgePlugin(deps: KnowledgePluginDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    app.get("/knowledge/client.json", async () => {
      const client = grantClientOf(deps.publicUrl());
      return { client_id: client.url, client_uri: deps.publicUrl(), ...describeClient(client) };
    });

    app.get("/knowledge/return", async (request, reply): Promise<FastifyReply> => {
      const { searchParams } = new URL(request.raw.url ?? "", "http://emend.internal");
      const [state, code, issuer] = ["state", "code", "iss"].map((name) => searchParams.get(name));
      try {
        const { name } = await deps.take({ state: state ?? "", code: code ?? null, issuer: issuer ?? undefined });
        return sendPage(reply, 200, plainPages.knowledgeConnected(name));
      } catch (error) {
        if (error instanceof AppError && error.publicMessage !== undefined && error.code !== "internal") {
          return sendPage(reply, 400, plainPages.knowledgeNotConnected(error.publicMessage));
        }
        if (!(error instanceof KnowledgeFault)) throw error;
        deps.log.warn({ err: error, ...aboutRequest(request) }, "knowledge server not connected");
        return sendPage(reply, 400, plainPages.knowledgeNotConnected(`the server ${error.message}`));
      }
    });
  };
}
