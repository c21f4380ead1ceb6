import type { DashboardSettings } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { readArchiveAfterDays, setArchiveAfterDays } from "../../accounts/settings.ts";
import type { AccountsDeps } from "../accounts-plugin.ts";
import { bodyParser } from "../parse-body.ts";
import { actorOf } from "../require-session.ts";

const parseEdit = bodyParser(
  Type.Object({
    /** Null: never; `"environment"`: what the environment says. */
    archiveAfterDays: Type.Union([
      Type.Integer({ minimum: 1, maximum: 36_500 }),
      Type.Null(),
      Type.Literal("environment"),
    ]),
  }),
);
const byOwner = { config: { role: "owner" } } as const;

export function settingsRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  async function show(): Promise<DashboardSettings> {
    const archive = await readArchiveAfterDays(deps.pool, deps.archiveAfterDays);
    return {
      archiveAfterDays: { ...archive, environment: deps.archiveAfterDays },
      singleSignOn: deps.singleSignOn?.description ?? null,
    };
  }

  app.get("/settings", byOwner, show);

  app.patch("/settings", byOwner, async (request) => {
    const { archiveAfterDays } = parseEdit(request.body);
    await setArchiveAfterDays(deps.pool, archiveAfterDays, actorOf(request));
    return show();
  });
}
