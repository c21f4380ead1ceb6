import type { DashboardAuditEntry, DashboardAuditPage } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { csvLine } from "../csv.ts";
import type { AccountsDeps } from "../dashboard.ts";

const rowsPerPage = 100;
const rowsMax = 100_000;
const byOwner = { config: { role: "owner" } } as const;
const columns = ["at", "actor", "address", "action", "target", "details"] as const;

export function auditRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  app.get("/audit", byOwner, async (request): Promise<DashboardAuditPage> => {
    return listAudit(deps.pool, parseFilter(request.query, rowsPerPage));
  });

  app.get("/audit.csv", byOwner, async (request, reply) => {
    const filter = parseFilter(request.query, 1000);
    reply.headers({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="emend-audit.csv"',
    });
    const lines = [csvLine(columns)];
    for (let before = filter.before; lines.length <= rowsMax; ) {
      const { entries, nextCursor } = await listAudit(deps.pool, { ...filter, before });
      lines.push(...entries.map(toLine));
      if (nextCursor === null) break;
      before = nextCursor;
    }
    return lines.join("");
  });
}

function toLine(entry: DashboardAuditEntry): string {
  return csvLine(columns.map((name) => (name === "details" ? JSON.stringify(entry.details) : entry[name])));
}

function parseFilter(query: unknown, limit: number): AuditFilter {
  const given = query as Record<string, unknown>;
  return { actor: textOf(given, "actor"), action: textOf(given, "action"), before: textOf(given, "cursor"), limit };
}

function textOf(given: Record<string, unknown>, name: string): string | null {
  const text = given[name];
  if (text === undefined || text === "") return null;
  if (typeof text === "string" && text.length <= 300 && !text.includes("\0")) return text;
  throw new AppError("invalid_request", { publicMessage: `${name} is not one that this page gave.` });
}

interface AuditFilter {
  actor: string | null;
  /** An action such as `key.created`, or a prefix such as `key`. */
  action: string | null;
  /** The last id of the previous page. */
  before: string | null;
  limit: number;
}

/** Newest first. */
async function listAudit(
  db: Queryable,
  filter: AuditFilter,
): Promise<{ entries: readonly DashboardAuditEntry[]; nextCursor: string | null }> {
  const { rows } = await db.query<DashboardAuditEntry>(
    `select id, wire_time(at) as at, actor, address, action, target, details from audit_log
     where ($1::text is null or actor = $1) and ($2::text is null or action = $2 or starts_with(action, $2 || '.'))
       and ($3::text is null or id < $3)
     order by id desc limit $4`,
    [filter.actor, filter.action, filter.before, filter.limit + 1],
  );
  const entries = rows.slice(0, filter.limit);
  return { entries, nextCursor: rows.length > entries.length ? (entries.at(-1)?.id ?? null) : null };
}
