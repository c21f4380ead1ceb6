import { hash } from "node:crypto";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { parseAllowList } from "./addresses.ts";
import type { KeyScope } from "./admin-key.ts";
import { newKey } from "./key-format.ts";

export interface CreateKeyInput {
  name: string;
  projectIds: readonly string[];
  scope: KeyScope;
  /** Null: never. */
  expiresInMs: number | null;
  /** Addresses or CIDR ranges; null: every address. */
  allowList: readonly string[] | null;
  createdBy: string;
}

export type CreateKeyOutcome =
  /** `key` is shown once: only its hash is stored. */
  { kind: "created"; id: string; key: string } | { kind: "unknown_project"; projectId: string };

export async function createKey(db: Queryable, input: CreateKeyInput): Promise<CreateKeyOutcome> {
  const projectIds = [...new Set(input.projectIds)];
  refuseBadInput(input);
  const unknown = await db.query<{ id: string }>(
    "select asked.id from unnest($1::text[]) asked (id) where asked.id not in (select id from projects)",
    [projectIds],
  );
  const projectId = unknown.rows[0]?.id;
  if (projectId !== undefined) return { kind: "unknown_project", projectId };
  const key = newKey();
  await db.query(
    `insert into admin_keys (id, secret_hash, hint, name, project_ids, scope, expires_at, allow_list, created_by)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + make_interval(secs => $7), $8, $9)`,
    [
      key.id,
      hash("sha256", key.secret, "buffer"),
      key.hint,
      input.name,
      projectIds,
      input.scope,
      input.expiresInMs === null ? null : input.expiresInMs / 1000,
      input.allowList,
      input.createdBy,
    ],
  );
  return { kind: "created", id: key.id, key: key.text };
}

function refuseBadInput(input: CreateKeyInput): void {
  if (input.projectIds.length === 0) {
    throw new AppError("invalid_request", { publicMessage: "A key needs at least one project." });
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what would break a list's lines
  if (input.name.trim() === "" || input.name.length > 200 || /[\u0000-\u001f]/.test(input.name)) {
    throw new AppError("invalid_request", { publicMessage: "A key's name must have 1 to 200 characters on one line." });
  }
  if (input.expiresInMs !== null && !(input.expiresInMs > 0 && Number.isFinite(input.expiresInMs))) {
    throw new AppError("invalid_request", { publicMessage: "Expiry must be in the future." });
  }
  const parsed = parseAllowList(input.allowList ?? []);
  if (parsed.kind === "invalid") {
    throw new AppError("invalid_request", {
      publicMessage: `"${parsed.entry}" is not an IP address or CIDR range.`,
    });
  }
  if (input.allowList?.length === 0) {
    throw new AppError("invalid_request", {
      publicMessage: "The allow-list is empty. Remove it to allow every address.",
    });
  }
}
