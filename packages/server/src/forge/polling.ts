/** How looking at pull requests again and again stays cheap for a forge, and within what it allows a token. */

interface Remembered {
  etag: string;
  value: unknown;
  /** Those that tell whether a list has more pages. */
  headers: Headers;
  size: number;
}

/** Answers with an `ETag`, so that the same question can be answered with "not modified". */
export interface AnswerMemory {
  recall(key: string): Remembered | undefined;
  remember(key: string, headers: Headers, value: unknown): void;
}

/** The requests of one look, and what the forge said of the token's rate limit meanwhile. */
export interface Polling {
  /** Questions of other projects are other questions. */
  recall(key: string): Remembered | undefined;
  remember(key: string, headers: Headers, value: unknown): void;
  /** `isFree`: it does not count against the limit; `requestsAnHour`: the limit, where answers do not tell it. */
  count(headers: Headers, isFree: boolean, requestsAnHour?: number): void;
  /** How long the token's other looks are to wait because of this one. */
  cost(nowMs?: number): PollCost;
}

interface PollCost {
  /** Added up over all looks with the token; it may run ahead of time by a burst. */
  spentMs: number;
  /** No look begins before this has passed. */
  pauseMs: number;
}

const sizeMax = 8 * 1024 * 1024;
const answerSizeMax = 256 * 1024;
/** For a forge that names no limit, and none is known of: below any other that is. */
const untoldRequests = 4_000;
/** GitHub's secondary limit is 900 a minute, and counts requests that its primary limit does not. */
const requestMsMin = 100;
/** Of the limit: left for jobs, and for whoever else uses the token. */
const reserve = 0.25;
const pauseMsMax = 3_600_000;
const kept = ["link", "x-total", "x-total-count"];

/** The least recently used are forgotten first. One a process. */
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
      if (share <= 0) return { spentMs: leastMs, pauseMs: leftMs };
      // What all nodes together have left, over the time that is left: however many look, the reserve stays.
      return { spentMs: Math.max(leastMs, Math.min(leftMs, (paid * leftMs) / share)), pauseMs: 0 };
    },
  };
}

/** GitHub's names for it, and those that GitLab and others have from a draft of the IETF. */
function limitIn(headers: Headers): { limit: number; remaining: number; resetAtMs: number } | null {
  const read = (name: string) => {
    const value = headers.get(`x-ratelimit-${name}`) ?? headers.get(`ratelimit-${name}`);
    return value === null ? Number.NaN : Number(value);
  };
  const [limit, remaining, resetAtMs] = [read("limit"), read("remaining"), read("reset") * 1000];
  return [limit, remaining, resetAtMs].every(Number.isFinite) ? { limit, remaining, resetAtMs } : null;
}
