import type { DashboardInbox } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { RouteDeps } from "../dashboard.ts";
import { dismissItem, readInbox } from "../inbox.ts";
import { bodyParser } from "../parse-request.ts";
import { subjectOf } from "../require-session.ts";

const parseDismissal = bodyParser(Type.Object({ item: Type.String({ minLength: 1, maxLength: 500 }) }));

/** What waits for the person who is logged in. */
export function inboxRoutes(app: FastifyInstance, { pool }: RouteDeps): void {
  app.get("/inbox", async (request): Promise<DashboardInbox> => readInbox(pool, subjectOf(request)));

  app.post("/inbox/dismiss", { config: { role: "viewer" } }, async (request) => {
    await dismissItem(pool, subjectOf(request), parseDismissal(request.body).item);
    return {};
  });
}
