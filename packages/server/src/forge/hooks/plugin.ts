import type { FastifyInstance } from "fastify";
import { hookSecretOf, isSigned } from "./hook-secret.ts";

export interface HookDeps {
  /** EMEND_SECRET. */
  secret: string;
  /** Something happened on a pull request: look at it now. */
  noticed(input: { projectId: string; number: number }): Promise<void>;
}

const bodyBytesMax = 1024 * 1024;
const forges: readonly string[] = ["github", "gitlab", "gitea"];

/**
 * Where forges send their webhooks. A signed one is a hint to look, and nothing of its content is believed: what
 * happened is then read from the forge, as polling would have read it later.
 */
export function forgeHooksPlugin(deps: HookDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      "*",
      { parseAs: "buffer", bodyLimit: bodyBytesMax },
      async (_: unknown, body: unknown) => body,
    );
    app.post<{ Params: { forge: string; projectId: string } }>("/hooks/:forge/:projectId", async (request, reply) => {
      const { forge, projectId } = request.params;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const secret = hookSecretOf(deps.secret, projectId);
      if (!forges.includes(forge) || !isSigned(forge, request.headers, body, secret)) {
        return reply.code(401).send({ error: "The webhook is not signed with this project's secret." });
      }
      const number = numberIn(body);
      if (number !== null) await deps.noticed({ projectId, number });
      return reply.code(202).send({ status: number === null ? "ignored" : "noticed" });
    });
  };
}

/** The pull request that an event is about, wherever each forge puts it; null: about something else. */
function numberIn(body: Buffer): number | null {
  const event = parse(body);
  const candidates = [
    event?.pull_request?.number,
    event?.issue?.number,
    event?.merge_request?.iid,
    event?.object_attributes?.iid,
    event?.number,
  ];
  return candidates.find((value): value is number => Number.isInteger(value) && Number(value) > 0) ?? null;
}

type Event = Partial<Record<string, { number?: unknown; iid?: unknown }>> & { number?: unknown };

function parse(body: Buffer): Event | null {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Event) : null;
  } catch {
    return null;
  }
}
