import { createLogger } from "@emend/base/logger.ts";
import { createGit } from "@emend/tree";
import type { Automation, AutomationDeps, AutomationRun, Trigger } from "../../server/src/automations/automation.ts";
import { addAutomation, listRuns } from "../../server/src/automations/automation-store.ts";
import type { PushDeps } from "../../server/src/automations/poll-triggers.ts";
import type { Pool } from "../../server/src/db/pool.ts";
import { AppError } from "../../server/src/errors.ts";
import { newJobRules } from "../../server/src/http/parse-create-body.ts";

/** A node's dependencies for automations. The forge returns nothing, so the stored state counts. */
export function automationDeps(pool: Pool, more: Partial<AutomationDeps & PushDeps> = {}): AutomationDeps & PushDeps {
  return {
    pool,
    log: createLogger({ level: "silent" }),
    defaultModel: "emend/rules",
    announceDue: () => {},
    newJobRules,
    pullRequestState: async () => null,
    git: createGit({ allowedProtocols: ["file"] }),
    async remoteOf() {
      throw new AppError("repository_unavailable", { publicMessage: "There is no repository here." });
    },
    pullsOf: async () => null,
    ...more,
  };
}

export function seedAutomation(
  pool: Pool,
  projectId: string,
  more: { trigger?: Trigger; prompt?: string; name?: string; model?: string } = {},
): Promise<Automation> {
  const { trigger = { kind: "manual" }, prompt = "Fix broken links.", name = "links", ...rest } = more;
  return addAutomation(
    { db: pool, defaultModel: "emend/rules" },
    { projectId, name, trigger, prompt, createdBy: "test", ...rest },
  );
}

export async function historyOf(
  pool: Pool,
  automationId: string,
): Promise<readonly Pick<AutomationRun, "state" | "words">[]> {
  return (await listRuns(pool, automationId)).map(({ state, words }) => ({ state, words }));
}

/** A knowledge server with one tool that the project's jobs may call. Nothing listens at its address. */
export async function allowSearch(pool: Pool, projectId: string): Promise<void> {
  await pool.query(
    `with server as (insert into knowledge_servers (id, project_id, name, url)
       values ($1, $2, 'tickets', 'https://tickets.example.com/mcp') returning id)
     insert into knowledge_tools (server_id, name, description, input_schema, hash)
       select id, 'search', '', '{}', 'unread' from server`,
    [`kno_${projectId}`, projectId],
  );
}
