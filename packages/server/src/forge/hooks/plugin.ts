import { forgeNames } from "@emend/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { AppError } from "../../errors.ts";
import type { ByteBudget } from "../../lib/byte-budget.ts";
import { hookSecretOf, isSigned, maySign } from "./hook-secret.ts";

export interface HookDeps {
  /** EMEND_SECRET. */
  secret: string;
  isProject(projectId: string): Promise<boolean>;
  /** The memory budget for bodies whose signature is not verified yet. */
  unknownBytes: ByteBudget;
  /** Something happened on a pull request: poll it now. */
  noticed(input: { projectId: string; number: number }): Promise<void>;
  /** Something was pushed to one of the project's repositories. False if nothing depends on it. */
  pushed(projectId: string): Promise<boolean>;
}

const bodyBytesMax = 1024 * 1024;
/** The database's limit. No forge comes near it. */
const numberMax = 2 ** 31 - 1;
const forges: readonly string[] = forgeNames.filter((name) => name !== "local");

/**
 * Receives the forges' webhooks. A signed webhook is only a hint to poll: its content is not trusted, and the current
 * state is then read from the forge.
 */
export function forgeHooksPlugin(deps: HookDeps): (app: FastifyInstance) => Promise<void> {
  async function hear(projectId: string, event: Event | null): Promise<boolean> {
    const number = numberIn(event);
    if (number === null) return isPush(event) && deps.pushed(projectId);
    await deps.noticed({ projectId, number });
    return true;
  }

  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      "*",
      { parseAs: "buffer", bodyLimit: bodyBytesMax },
      async (_: unknown, body: unknown) => body,
    );
    const refuse = (reply: FastifyReply) =>
      reply.code(401).send({ error: "The webhook is not signed with this project's secret." });
    app.post<{ Params: { forge: string; projectId: string } }>(
      "/hooks/:forge/:projectId",
      {
        // Checked before the body is read: anybody can send requests here.
        async onRequest(request, reply) {
          const { forge, projectId } = request.params;
          const secret = hookSecretOf(deps.secret, projectId);
          const isLikely = forges.includes(forge) && maySign(forge, request.headers, secret);
          if (!isLikely || !(await deps.isProject(projectId))) return refuse(reply);
        },
        preParsing: async (_request, reply, payload) => deps.unknownBytes.spend(payload, reply.raw, tooMuch),
      },
      async (request, reply) => {
        const { forge, projectId } = request.params;
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        if (!isSigned(forge, request.headers, body, hookSecretOf(deps.secret, projectId))) return refuse(reply);
        return reply.code(202).send({ status: (await hear(projectId, parse(body))) ? "noticed" : "ignored" });
      },
    );
  };
}

function tooMuch(): AppError {
  return new AppError("unavailable", {
    publicMessage: "Too many webhooks arrive at once, or this one arrives too slowly. Send it again in a moment.",
    retryAfterMs: 5_000,
  });
}

/** The pull request's number in an event, or null if the event is about something else. */
function numberIn(event: Event | null): number | null {
  const candidates = [
    event?.pull_request?.number,
    event?.issue?.number,
    event?.merge_request?.iid,
    event?.object_attributes?.iid,
    event?.number,
    event?.pullrequest?.id,
  ];
  return candidates.find(isPullNumber) ?? null;
}

function isPullNumber(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= numberMax;
}

/** All forges except Bitbucket have the same form for a push. */
function isPush(event: Event | null): boolean {
  if (Array.isArray(event?.push?.changes)) return true;
  return typeof event?.ref === "string" && /^refs\/(heads|tags)\//.test(event.ref);
}

type Event = Partial<Record<string, { number?: unknown; iid?: unknown; id?: unknown; changes?: unknown }>> & {
  number?: unknown;
  ref?: unknown;
};

function parse(body: Buffer): Event | null {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Event) : null;
  } catch {
    return null;
  }
}
