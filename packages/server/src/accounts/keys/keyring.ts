import { hash, timingSafeEqual } from "node:crypto";
import type { BlockList } from "node:net";
import type { Logger } from "@emend/base/logger.ts";
import { channels, type Listener } from "../../db/listener.ts";
import type { Pool, Queryable } from "../../db/pool.ts";
import { createFreshMap } from "../../lib/fresh-map.ts";
import { isAllowed, parseAllowList, throttledAddress } from "../addresses.ts";
import { isKey, type KeyGrant, type KeyParts, type KeyScope, secretLength, splitKey } from "./api-keys.ts";

const keysMax = 10_000;
const touchEveryMs = 60_000;

/**
 * Authenticates API keys. Keys in use are cached and evicted when revoked: by notice, and in any case within a second.
 * Failures are throttled by address: above the limit, a key that is not cached waits and is looked up in a batch. So
 * guessing is slow and cheap for the database, while a valid key behind the same address still works.
 */
export interface Keyring {
  /** The grant of a valid key, or null. Synchronous if the key is cached or malformed. `ip` is read only if needed. */
  authenticate(key: string, from: { readonly ip: string }): KeyGrant | null | Promise<KeyGrant | null>;
  /** The number of throttled addresses; bounded. */
  readonly throttledAddresses: number;
  /** Waits for pending writes. */
  close(): Promise<void>;
}

interface KeyringDeps {
  pool: Pool;
  listener: Listener;
  log: Logger;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

export function createKeyring(deps: KeyringDeps): Keyring {
  const now = deps.now ?? (() => performance.now());
  const keys = createFreshMap<LoadedKey>(deps.listener, keysMax);
  const throttle = createFailureThrottle({ failuresMax: 30, windowMs: 60_000, addressesMax: 10_000, now });
  const lookUp = createSharedLookup({
    pauseMs: 100,
    waitingMax: 1000,
    read: (ids) => loadKeys(deps.pool, ids, now),
  });
  // Buffer for constant-time comparison. Secrets have a fixed length and are ASCII, so nothing of the previous one
  // remains.
  const presented = Buffer.alloc(secretLength);
  const writes = new Set<Promise<void>>();
  const stopListening = [
    deps.listener.on(channels.keyChanged, (id) => keys.delete(id)),
    deps.listener.onReset(() => keys.clear()),
  ];

  async function loadAndJudge(parts: KeyParts, from: { readonly ip: string }): Promise<KeyGrant | null> {
    const isSlowed = !keys.has(parts.id) && throttle.isBlocked(throttledAddress(from.ip));
    const read = async () => (isSlowed ? lookUp(parts.id) : (await loadKeys(deps.pool, [parts.id], now)).get(parts.id));
    const key = await keys.load(parts.id, read);
    // Its rights follow a person and a consent, which end without a notice: the next request reads them again.
    if (key?.grant.isProgram) keys.delete(parts.id);
    return judge(key, parts, from);
  }

  function judge(key: LoadedKey | undefined, parts: KeyParts, from: { readonly ip: string }): KeyGrant | null {
    const nowMs = now();
    const isValid =
      key !== undefined &&
      isSecret(parts.secret, key) &&
      nowMs < key.expiresAtMs &&
      (key.allowList === null || isAllowed(key.allowList, from.ip));
    if (!isValid) {
      throttle.fail(throttledAddress(from.ip));
      return null;
    }
    key.checksum = parts.checksum;
    if (nowMs - key.touchedAtMs >= touchEveryMs) touch(key, nowMs);
    return key.grant;
  }

  /** Compares by hash the first time, then by the secret itself: hashing costs a quarter of a request's work. */
  function isSecret(secret: string, key: LoadedKey): boolean {
    if (key.secret === null) {
      if (!timingSafeEqual(hash("sha256", secret, "buffer"), key.secretHash)) return false;
      key.secret = Buffer.from(secret, "latin1");
    }
    presented.write(secret, "latin1");
    return timingSafeEqual(presented, key.secret);
  }

  function touch(key: LoadedKey, nowMs: number): void {
    key.touchedAtMs = nowMs;
    const write = touchKey(deps.pool, key.grant.keyId)
      .catch((error) => deps.log.warn({ err: error }, "last use of a key not stored"))
      .finally(() => writes.delete(write));
    writes.add(write);
  }

  return {
    authenticate(text, from) {
      const parts = splitKey(text);
      if (parts === null) return null;
      const known = keys.get(parts.id);
      // The checksum of a key that was accepted before is not computed again.
      if (parts.checksum !== known?.checksum && !isKey(parts)) return null;
      if (known !== undefined) return judge(known, parts, from);
      return loadAndJudge(parts, from);
    },
    get throttledAddresses() {
      return throttle.size;
    },
    async close() {
      for (const stop of stopListening) stop();
      await Promise.all(writes);
    },
  };
}

/** Several nodes use the same key: the condition limits this to one write per minute. */
async function touchKey(pool: Pool, id: string): Promise<void> {
  await pool.query({
    name: "touch-key",
    text: `update admin_keys set last_used_at = clock_timestamp()
           where id = $1 and (last_used_at is null or last_used_at <= clock_timestamp() - interval '1 minute')`,
    values: [id],
  });
}

/** A cached key. Times are on this node's monotonic clock, derived from the database's. */
interface LoadedKey {
  grant: KeyGrant;
  /** Known once the key was accepted. */
  checksum: string | null;
  secretHash: Buffer;
  /** Known once the key was accepted; only in this process's memory. */
  secret: Buffer | null;
  expiresAtMs: number;
  allowList: BlockList | null;
  /** When `last used` was last written. */
  touchedAtMs: number;
}

interface Row {
  id: string;
  key_id: string;
  is_program: boolean;
  secret_hash: Buffer;
  project_ids: string[];
  scope: KeyScope;
  allow_list: string[] | null;
  expires_in_ms: number | null;
  used_before_ms: number | null;
}

/** By id: keys, and programs' access tokens. Missing and revoked ones are left out. */
async function loadKeys(
  db: Queryable,
  ids: readonly string[],
  now: () => number,
): Promise<ReadonlyMap<string, LoadedKey>> {
  // Read before the query: a key must expire early rather than late.
  const askedAtMs = now();
  const { rows } = await db.query<Row>({
    name: "load-keys",
    text: `select id, key_id, is_program, secret_hash, project_ids, scope, allow_list,
             (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as expires_in_ms,
             (extract(epoch from clock_timestamp() - last_used_at) * 1000)::float8 as used_before_ms
           from (
             select id, id as key_id, false as is_program, secret_hash, project_ids, scope, allow_list, expires_at,
               last_used_at
             from admin_keys where id = any($1) and revoked_at is null and client_id is null
             union all
             select tokens.id, keys.id, true, tokens.secret_hash, project_ids,
               case when users.role = 'viewer' then 'read' else scope end, allow_list,
               least(tokens.expires_at, keys.expires_at), last_used_at
             from oauth_records tokens join admin_keys keys on keys.id = tokens.key_id
               join users on users.id = keys.user_id
             where tokens.id = any($1) and tokens.secret_hash is not null and keys.revoked_at is null
           ) valid`,
    values: [ids],
  });
  return new Map(rows.map((row) => [row.id, toLoadedKey(row, askedAtMs)]));
}

function toLoadedKey(row: Row, askedAtMs: number): LoadedKey {
  return {
    grant: { keyId: row.key_id, isProgram: row.is_program, projectIds: new Set(row.project_ids), scope: row.scope },
    checksum: null,
    secretHash: row.secret_hash,
    secret: null,
    expiresAtMs: row.expires_in_ms === null ? Number.POSITIVE_INFINITY : askedAtMs + row.expires_in_ms,
    allowList: row.allow_list && allowListOf(row.allow_list),
    touchedAtMs: row.used_before_ms === null ? Number.NEGATIVE_INFINITY : askedAtMs - row.used_before_ms,
  };
}

function allowListOf(entries: readonly string[]): BlockList {
  const parsed = parseAllowList(entries);
  if (parsed.kind === "invalid") throw new Error(`a stored allow-list holds "${parsed.entry}"`);
  return parsed.list;
}

interface FailureThrottle {
  isBlocked(address: string): boolean;
  fail(address: string): void;
  readonly size: number;
}

/**
 * Counts failures by address in a leaky bucket: `failuresMax` at once, then as many as leak in `windowMs`. Holds at
 * most `addressesMax`; evicts the one that failed longest ago.
 */
export function createFailureThrottle(options: {
  failuresMax: number;
  windowMs: number;
  addressesMax: number;
  now: () => number;
}): FailureThrottle {
  const buckets = new Map<string, { level: number; atMs: number }>();

  function levelOf(address: string, nowMs: number): number {
    const bucket = buckets.get(address);
    if (!bucket) return 0;
    return Math.max(0, bucket.level - ((nowMs - bucket.atMs) * options.failuresMax) / options.windowMs);
  }

  return {
    isBlocked: (address) => buckets.has(address) && levelOf(address, options.now()) > options.failuresMax - 1,
    fail(address) {
      const nowMs = options.now();
      const level = Math.min(options.failuresMax, levelOf(address, nowMs) + 1);
      buckets.delete(address);
      for (const oldest of buckets.keys()) {
        if (buckets.size < options.addressesMax) break;
        buckets.delete(oldest);
      }
      buckets.set(address, { level, atMs: nowMs });
    },
    get size() {
      return buckets.size;
    },
  };
}

interface SharedLookupOptions<V> {
  /** How long the first caller waits for others. */
  pauseMs: number;
  /** The maximum number of waiting ids. When it is full, lookups find nothing. */
  waitingMax: number;
  read(ids: readonly string[]): Promise<ReadonlyMap<string, V>>;
}

/** Batches lookups by id: one query after each pause. */
export function createSharedLookup<V>(options: SharedLookupOptions<V>): (id: string) => Promise<V | undefined> {
  const waiting = new Set<string>();
  let found: Promise<ReadonlyMap<string, V>> | null = null;

  async function readAfterPause(): Promise<ReadonlyMap<string, V>> {
    await new Promise((resolve) => setTimeout(resolve, options.pauseMs));
    const ids = [...waiting];
    waiting.clear();
    found = null;
    return options.read(ids);
  }

  return async (id) => {
    if (waiting.size >= options.waitingMax && !waiting.has(id)) return undefined;
    waiting.add(id);
    found ??= readAfterPause();
    return (await found).get(id);
  };
}

/** The parts of a request that authentication needs. */
interface KeyBearer {
  readonly headers: { readonly authorization?: string | undefined };
  /** The client's address, behind trusted proxies. */
  readonly ip: string;
}

/** The grant of the key in `Authorization: Bearer`, or null. */
export function authenticateKey(keyring: Keyring, bearer: KeyBearer): KeyGrant | null | Promise<KeyGrant | null> {
  const key = bearerKey(bearer.headers.authorization);
  return key === null ? null : keyring.authenticate(key, bearer);
}

/**
 * For git clients, which send a key as the password of `Authorization: Basic`, with any user name. Programs' tokens are
 * refused: nobody consented to pushes.
 */
export async function authenticateGitKey(keyring: Keyring, bearer: KeyBearer): Promise<KeyGrant | null> {
  const { authorization } = bearer.headers;
  const key = bearerKey(authorization) ?? basicPassword(authorization);
  const grant = key === null ? null : await keyring.authenticate(key, bearer);
  return grant?.isProgram ? null : grant;
}

function bearerKey(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  // The common form first: no regular expression for every request.
  if (authorization.startsWith("Bearer emend_")) return authorization.slice(7);
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon === -1 ? null : text.slice(colon + 1);
}
