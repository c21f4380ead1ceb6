import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { AppError } from "../../errors.ts";

/**
 * Hashes passwords with scrypt. Each hash takes tens of milliseconds and 32 MiB, so a semaphore limits how many run and
 * wait.
 */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes the same time for an account without a password, or for no account. */
  isRight(password: string, stored: string | null): Promise<boolean>;
}

const cost = { N: 2 ** 15, r: 8, p: 1 } as const;
const memoryBytesMax = 64 * 1024 * 1024;
const keyLength = 32;
const atOnceMax = 2;
const waitingMax = 50;

export function createPasswords(): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];

  /** Hashing uses the thread pool that also reads files and resolves names, so some threads must stay free. */
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= atOnceMax) {
      if (waiting.length >= waitingMax) {
        throw new AppError("rate_limited", {
          publicMessage: "Too many logins at once. Try again in a moment.",
          retryAfterMs: 5_000,
        });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    async hash(password) {
      const salt = randomBytes(16);
      const key = await inTurn(() => derive(password, salt, cost));
      return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), key.toString("base64url")].join("$");
    },
    async isRight(password, stored) {
      const { salt, key, N, r, p } = stored === null ? nobodys : parse(stored);
      const given = await inTurn(() => derive(password, salt, { N, r, p }));
      return timingSafeEqual(given, key) && stored !== null;
    },
  };
}

const nobodys = { salt: Buffer.alloc(16), key: Buffer.alloc(keyLength), ...cost };

/** Each hash stores its parameters, so that later ones can use higher ones. */
function parse(stored: string): typeof nobodys {
  const [, N, r, p, salt = "", key = ""] = stored.split("$");
  const numbers = { N: Number(N), r: Number(r), p: Number(p) } as typeof cost;
  return { ...numbers, salt: Buffer.from(salt, "base64url"), key: Buffer.from(key, "base64url") };
}

function derive(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  // Normalized: the same characters from another keyboard are the same password.
  const text = password.normalize("NFKC");
  return new Promise((resolve, reject) => {
    scrypt(text, salt, keyLength, { ...options, maxmem: memoryBytesMax }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
