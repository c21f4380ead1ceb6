import {
  type DashboardOwnSessions,
  type DashboardSettings,
  retention,
  retentionDaysMax,
  retentionNames,
} from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { readRequirement, setFactorRequired } from "../../accounts/factors/requirement.ts";
import {
  readMonthlyBudget,
  readRetention,
  setMonthlyBudget,
  setRetention,
} from "../../accounts/installation-settings.ts";
import { changePassword } from "../../accounts/sessions/log-in.ts";
import { endOtherSessions, type Holder, listOwnSessions } from "../../accounts/sessions/session-store.ts";
import { AppError } from "../../errors.ts";
import type { AccountsDeps } from "../dashboard.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf, currentSession, keepSession } from "../require-session.ts";

const parse = bodyParser(
  Type.Object({
    /** Null if there is none yet. */
    current: Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()]),
    next: Type.String({ maxLength: 10_000 }),
  }),
);

export function passwordRoute(app: FastifyInstance, deps: AccountsDeps): void {
  app.post("/password", { config: { role: "viewer" } }, async (request, reply) => {
    const { userId, how, isFresh } = currentSession(request);
    if (userId === null) {
      throw new AppError("conflict", {
        publicMessage: "A link of the console opened this session: it has no password.",
      });
    }
    const change = { ...parse(request.body), userId, how, isFresh, address: request.ip };
    const sessionToken = await changePassword(deps, change);
    await keepSession(deps, reply, sessionToken);
    return {};
  });
}

/** The person's sessions, and logging out all others. */
export function ownSessionRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  const holderOf = (request: FastifyRequest): Holder => ({
    userId: currentSession(request).userId,
    token: deps.sessions.tokenOf(request.headers.cookie) ?? "",
  });

  app.get("/sessions", async (request): Promise<DashboardOwnSessions> => {
    const sessions = await listOwnSessions(deps.pool, holderOf(request));
    return {
      sessions: sessions.map((session) => ({
        ...session,
        startedAt: session.startedAt.toISOString(),
        expiresAt: session.expiresAt.toISOString(),
      })),
    };
  });

  app.post("/sessions/end-others", { config: { role: "viewer" } }, async (request) => ({
    ended: await endOtherSessions(deps.pool, holderOf(request), actorOf(request)),
  }));
}

const parseEdit = bodyParser(
  Type.Object({
    /** Null: never. `"environment"`: use the environment's value. */
    retention: Type.Optional(
      Type.Object(
        Object.fromEntries(
          retentionNames.map((name) => {
            const days = Type.Integer({ minimum: retention[name].least, maximum: retentionDaysMax });
            return [name, Type.Optional(Type.Union([days, Type.Null(), Type.Literal("environment")]))];
          }),
        ),
        { additionalProperties: false },
      ),
    ),
    monthlyBudget: Type.Optional(
      Type.Object({
        jobsMax: Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000_000 }), Type.Null()]),
        costUsdMax: Type.Union([Type.Number({ minimum: 0, maximum: 1_000_000_000 }), Type.Null()]),
      }),
    ),
    secondFactorRequired: Type.Optional(Type.Boolean()),
  }),
);
const byOwner = { config: { role: "owner" } } as const;

export function settingsRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  async function show(): Promise<DashboardSettings> {
    return {
      retention: await readRetention(deps.pool, deps.retention),
      monthlyBudget: await readMonthlyBudget(deps.pool),
      secondFactor: await readRequirement(deps.pool),
      singleSignOn: deps.singleSignOn?.description ?? null,
    };
  }

  app.get("/settings", byOwner, show);

  app.patch("/settings", byOwner, async (request) => {
    const { retention: ages, monthlyBudget, secondFactorRequired: required } = parseEdit(request.body);
    // First: it may be refused.
    if (required !== undefined) {
      await setFactorRequired(deps.pool, { required, by: currentSession(request) }, actorOf(request));
    }
    if (ages) await setRetention(deps.pool, ages, actorOf(request));
    if (monthlyBudget) {
      const { jobsMax, costUsdMax } = monthlyBudget;
      await setMonthlyBudget(deps.pool, { jobsMax, costUsdMax }, actorOf(request));
    }
    return show();
  });
}

export function startRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  /** The sample docs, as a local project. */
  app.post("/start/sample", async (request, reply) => reply.code(201).send(await deps.addSample(actorOf(request))));
}
