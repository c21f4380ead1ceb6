/** Keeps the polling of pull requests cheap for a forge, and within the token's rate limit. */

interface Remembered {
  etag: string;
  value: unknown;
  /** The headers for pagination. */
  headers: Headers;
  size: number;
}

/** Caches responses that have an `ETag`, so that the forge can answer 304. */
export interface AnswerMemory {
  recall(key: string): Remembered | undefined;
  remember(key: string, headers: Headers, value: unknown): void;
}

/** The requests of one poll, and the rate limit that the forge reported. */
export interface Polling {
  /** The cache key includes the project. */
  recall(key: string): Remembered | undefined;
  remember(key: string, headers: Headers, value: unknown): void;
  /** `isFree`: it does not count against the limit. `requestsAnHour`: the limit, if responses do not state it. */
  count(headers: Headers, isFree: boolean, requestsAnHour?: number): void;
  /** How long the token's other polls must wait because of this one. */
  cost(nowMs?: number): PollCost;
}

interface PollCost {
  /** Summed over all polls with the token. It may run ahead of time by a burst. */
  spentMs: number;
  /** No poll starts before this has passed. */
  pauseMs: number;
}

const sizeMax = 8 * 1024 * 1024;
const answerSizeMax = 256 * 1024;
/** For a forge without a known limit: below every known one. */
const untoldRequests = 4_000;
/** GitHub's secondary limit is 900 a minute. It also counts requests that the primary limit does not. */
const requestMsMin = 100;
/** The share of the limit that is left for jobs and other users of the token. */
const reserve = 0.25;
/** Below the reserve there is a poll now and then: only a response tells that the limit was restored. */
const slowMs = 300_000;
const pauseMsMax = 3_600_000;
const kept = ["link", "x-total", "x-total-count"];

/** An LRU cache, one per process. */
export function createAnswerMemory(options: { sizeMax?: number } = {}): AnswerMemory {
  const max = options.sizeMax ?? sizeMax;
  const answers = new Map<string, Remembered>();
  let size = 0;

  function forget(key: string): void {
    size -= answers.get(key)?.size ?? 0;
    answers.delete(key);
  }

  return {
    recall(key) {
      const known = answers.get(key);
      if (known) {
        answers.delete(key);
        answers.set(key, known);
      }
      return known;
    },
    remember(key, headers, value) {
      forget(key);
      const etag = headers.get("etag");
      if (etag === null) return;
      const told = new Headers(kept.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? ""]] : [])));
      const answer = { etag, value, headers: told, size: key.length + etag.length + JSON.stringify(value).length };
      if (answer.size > Math.min(answerSizeMax, max)) return;
      answers.set(key, answer);
      size += answer.size;
      for (const oldest of answers.keys()) {
        if (size <= max) break;
        forget(oldest);
      }
    },
  };
}

export function startPolling(memory: AnswerMemory, scope: string): Polling {
  let requests = 0;
  let paid = 0;
  let untoldMs = 0;
  let told: { limit: number; remaining: number; resetAtMs: number } | null = null;
  return {
    recall: (key) => memory.recall(`${scope} ${key}`),
    remember: (key, headers, value) => memory.remember(`${scope} ${key}`, headers, value),
    count(headers, isFree, requestsAnHour = untoldRequests) {
      requests += 1;
      if (!isFree) {
        paid += 1;
        untoldMs += 3_600_000 / (requestsAnHour * (1 - reserve));
      }
      told = limitIn(headers) ?? told;
    },
    cost(nowMs = Date.now()) {
      const leastMs = requests * requestMsMin;
      if (!told) return { spentMs: Math.max(leastMs, untoldMs), pauseMs: 0 };
      const leftMs = Math.min(pauseMsMax, Math.max(0, told.resetAtMs - nowMs));
      const share = told.remaining - told.limit * reserve;
      if (told.remaining <= 0) return { spentMs: leastMs, pauseMs: leftMs };
      if (share <= 0) return { spentMs: leastMs, pauseMs: Math.min(leftMs, slowMs) };
      // Divides what is left for all nodes by the remaining time, so that the reserve stays however many nodes poll.
      return { spentMs: Math.max(leastMs, Math.min(leftMs, (paid * leftMs) / share)), pauseMs: 0 };
    },
  };
}

/** GitHub's header names, and those from the IETF draft that GitLab and others use. */
function limitIn(headers: Headers): { limit: number; remaining: number; resetAtMs: number } | null {
  const read = (name: string) => {
    const value = headers.get(`x-ratelimit-${name}`) ?? headers.get(`ratelimit-${name}`);
    return value === null ? Number.NaN : Number(value);
  };
  const [limit, remaining, resetAtMs] = [read("limit"), read("remaining"), read("reset") * 1000];
  return [limit, remaining, resetAtMs].every(Number.isFinite) ? { limit, remaining, resetAtMs } : null;
}
