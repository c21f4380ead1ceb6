import { hash, timingSafeEqual } from "node:crypto";
import { channels } from "../db/channels.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { createFreshMap } from "../lib/fresh-map.ts";
import type { Logger } from "../lib/logger.ts";
import { isAllowed, throttledAddress } from "./addresses.ts";
import type { KeyGrant } from "./admin-key.ts";
import { createFailureThrottle } from "./failure-throttle.ts";
import { isKey, type KeyParts, secretLength, splitKey } from "./key-format.ts";
import { type LoadedKey, loadKeys } from "./load-keys.ts";
import { createSharedLookup } from "./shared-lookup.ts";

const keysMax = 10_000;
const touchEveryMs = 60_000;

/**
 * Judges keys. Those in use are remembered, and forgotten as soon as they are revoked: by notice, and in any case within
 * a second. Failures are throttled by address: over the limit, a key that this node does not remember waits and is looked
 * up together with the others that wait, so that guessing is slow and costs the database next to nothing, while a good
 * key behind the same address still gets in.
 */
export interface Keyring {
  /** The grant of a valid key, or null: at once where the key is remembered or cannot be one. `ip` is read only if needed. */
  authenticate(key: string, from: { readonly ip: string }): KeyGrant | null | Promise<KeyGrant | null>;
  /** How many addresses are being counted: bounded. */
  readonly throttledAddresses: number;
  /** Waits for writes that are under way. */
  close(): Promise<void>;
}

export interface KeyringDeps {
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
  // Where a secret is written to be compared: it has this length and is plain ASCII, so nothing of the last one is left.
  const presented = Buffer.alloc(secretLength);
  const writes = new Set<Promise<void>>();
  const stopListening = [
    deps.listener.on(channels.keyChanged, (id) => keys.delete(id)),
    deps.listener.onReset(() => keys.clear()),
  ];

  async function loadAndJudge(parts: KeyParts, from: { readonly ip: string }): Promise<KeyGrant | null> {
    const isSlowed = !keys.has(parts.id) && throttle.isBlocked(throttledAddress(from.ip));
    const read = async () => (isSlowed ? lookUp(parts.id) : (await loadKeys(deps.pool, [parts.id], now)).get(parts.id));
    return judge(await keys.load(parts.id, read), parts, from);
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

  /** By the hash the first time; then by the secret itself, since hashing costs a quarter of a request's work. */
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
      // The sum of a key that was let in before is not reckoned again on each of its requests.
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

/** Several nodes see the same key: the condition keeps it at one write a minute among all of them. */
async function touchKey(pool: Pool, id: string): Promise<void> {
  await pool.query({
    name: "touch-key",
    text: `update admin_keys set last_used_at = clock_timestamp()
           where id = $1 and (last_used_at is null or last_used_at <= clock_timestamp() - interval '1 minute')`,
    values: [id],
  });
}
