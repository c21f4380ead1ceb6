import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { channels } from "../../db/listener.ts";
import type { Client, Queryable } from "../../db/pool.ts";
import { consoleActor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { parseAllowList } from "../addresses.ts";

export interface CreateKeyInput {
  name: string;
  projectIds: readonly string[];
  scope: KeyScope;
  /** Null: never. */
  expiresInMs: number | null;
  /** Addresses or CIDR ranges; null: every address. */
  allowList: readonly string[] | null;
  /** The console, or a member's email address: while they are being removed or demoted, they create none. */
  createdBy: string;
  /** A person's consent: the key works only through the program's tokens, while the person is a member. */
  program?: { userId: string; clientId: string };
}

type CreateKeyOutcome =
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
  const { rowCount } = await db.query(
    `with maker as (
       select from users where id = $10 or ($10 is null and lower(email) = lower($9) and role <> 'viewer') for share
     )
     insert into admin_keys (id, secret_hash, hint, name, project_ids, scope, expires_at, allow_list, created_by,
       user_id, client_id)
     select $1, $2, $3, $4, $5, $6, clock_timestamp() + make_interval(secs => $7), $8, $9, $10, $11
     where $9 = '${consoleActor.name}' or exists (select from maker)`,
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
      input.program?.userId ?? null,
      input.program?.clientId ?? null,
    ],
  );
  if (rowCount === 0) {
    throw new AppError("forbidden", { publicMessage: "Only owners and maintainers can create keys." });
  }
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

interface RotateKeyInput extends CreateKeyInput {
  /** How long both keys work. Null: until the old one is revoked. 0: not at all. */
  overlapMs: number | null;
}

/**
 * Creates a replacement for a key. The old one keeps working for the overlap and then expires. A key that no longer
 * works cannot be rotated.
 */
export async function rotateKey(
  client: Client,
  oldId: string,
  input: RotateKeyInput,
): Promise<CreateKeyOutcome | { kind: "unknown_key" }> {
  const { overlapMs, ...wanted } = input;
  const { rowCount } = await client.query(
    `select 1 from admin_keys
     where id = $1 and client_id is null and revoked_at is null
       and (expires_at is null or expires_at > clock_timestamp()) for update`,
    [oldId],
  );
  if (rowCount === 0) return { kind: "unknown_key" };
  const outcome = await createKey(client, wanted);
  if (outcome.kind !== "created") return outcome;
  if (overlapMs === 0) await revokeKey(client, oldId);
  else if (overlapMs !== null) await expireKey(client, oldId, overlapMs);
  return outcome;
}

/** Never later than its own expiry. */
async function expireKey(client: Client, id: string, inMs: number): Promise<void> {
  await client.query(
    `with expiring as (
       update admin_keys set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $2))
       where id = $1 returning id
     )
     select pg_notify('${channels.keyChanged}', id) from expiring`,
    [id, inMs / 1000],
  );
}

export interface Revocation {
  kind: "revoked" | "revoked_before" | "unknown_key";
}

/** Revokes a key on every node within a second. Idempotent. `userId`: only if this person connected its program. */
export async function revokeKey(
  db: Queryable,
  id: string,
  { userId = null }: { userId?: string | null } = {},
): Promise<Revocation> {
  const { rows } = await db.query<Revocation>(
    `with found as (
       select id, revoked_at from admin_keys where id = $1 and ($2::text is null or user_id = $2) for update
     ), revoked as (
       update admin_keys set revoked_at = clock_timestamp() from found
       where admin_keys.id = found.id and found.revoked_at is null
       returning admin_keys.id
     )
     select case when exists (select from revoked) then 'revoked' else 'revoked_before' end as kind,
            pg_notify('${channels.keyChanged}', id)
     from found`,
    [id, userId],
  );
  return { kind: rows[0]?.kind ?? "unknown_key" };
}

/** Every key, or those of one project; newest first. */
export async function listKeys(db: Queryable, filter: { projectId?: string } = {}): Promise<readonly AdminKey[]> {
  const { rows } = await db.query<AdminKey>(
    `select id, hint, name, project_ids as "projectIds", scope, expires_at as "expiresAt", allow_list as "allowList",
       created_by as "createdBy", created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt",
       client_id as "clientId", user_id as "userId"
     from admin_keys where $1::text is null or $1 = any (project_ids) order by created_at desc, id`,
    [filter.projectId ?? null],
  );
  return rows;
}

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const prefix = "emend_";
const idLength = 12;
/** 30 base-62 digits have 178.6 bits. */
export const secretLength = 30;
const checksumLength = 6;
const idEnd = prefix.length + idLength;
const secretEnd = idEnd + secretLength;
const keyLength = secretEnd + checksumLength;
const form = new RegExp(`^${prefix}[0-9A-Za-z]+$`);

export interface KeyParts {
  id: string;
  secret: string;
  checksum: string;
}

export function newKey(id = randomDigits(idLength)): KeyParts & { text: string; hint: string } {
  const secret = randomDigits(secretLength);
  const text = prefix + id + secret;
  const checksum = checksumOf(text);
  return { id, secret, checksum, text: text + checksum, hint: text.slice(0, prefix.length + 4) };
}

/** The parts of a text in key format, or null. */
export function splitKey(text: string): KeyParts | null {
  if (text.length !== keyLength || !form.test(text)) return null;
  return {
    id: text.slice(prefix.length, idEnd),
    secret: text.slice(idEnd, secretEnd),
    checksum: text.slice(secretEnd),
  };
}

/** Whether the checksum is correct: typos and guesses are refused here, without a query. */
export function isKey({ id, secret, checksum }: KeyParts): boolean {
  return checksumOf(prefix + id + secret) === checksum;
}

function randomDigits(length: number): string {
  return Array.from({ length }, () => digits[randomInt(digits.length)]).join("");
}

function checksumOf(text: string): string {
  let checksum = "";
  for (let rest = crc32(text); checksum.length < checksumLength; rest = Math.floor(rest / digits.length)) {
    checksum = digits[rest % digits.length] + checksum;
  }
  return checksum;
}

/** What a key may do in its projects: read, also start jobs, or also change what maintainers do. Each includes those before. */
export const keyScopes = ["read", "write", "manage"] as const;
export type KeyScope = (typeof keyScopes)[number];

/** The permissions of a valid key. */
export interface KeyGrant {
  readonly keyId: string;
  readonly projectIds: ReadonlySet<string>;
  readonly scope: KeyScope;
  /** A person's consent gave it to a program. */
  readonly isProgram: boolean;
}

/** A key in lists, without its secret. */
export interface AdminKey {
  id: string;
  /** The first characters, to recognize it. */
  hint: string;
  name: string;
  projectIds: readonly string[];
  scope: KeyScope;
  expiresAt: Date | null;
  /** Null: every address. */
  allowList: readonly string[] | null;
  createdBy: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  /** The program that a person connected. Null for a key that people copy. */
  clientId: string | null;
  /** Who connected it. */
  userId: string | null;
}
