import { ForgeFault } from "./faults.ts";

export interface RawAnswer {
  status: number;
  headers: Headers;
  /** The request's body, parsed if it is JSON. */
  body: unknown;
}

const wordsLengthMax = 500;
/** The wait after a rate limit that names no time. */
const rateLimitMs = 60_000;
const retryMsMax = 3_600_000;

/** What a failed response means: retry later, or a permanent refusal. */
export function refusalOf(
  forge: string,
  answer: RawAnswer,
  what: string,
  /** A conflict with other work on the repository passes; so may others. */
  { mayPass = answer.status === 409 } = {},
): ForgeFault {
  const { status } = answer;
  const words = wordsOf(answer.body).replace(/\.$/, "");
  const told = `${forge} answered ${status}${words ? `: ${words}` : ""}`;
  if (isRateLimited(answer)) {
    return new ForgeFault("forge_unavailable", {
      publicMessage: `${told}. The token reached its rate limit.`,
      retryable: true,
      retryAfterMs: retryAfterMs(answer.headers) ?? resetMs(answer.headers) ?? rateLimitMs,
      isRateLimit: true,
    });
  }
  if (status >= 500 || status === 408) {
    return new ForgeFault("forge_unavailable", {
      publicMessage: `${told}.`,
      retryable: true,
      retryAfterMs: retryAfterMs(answer.headers),
    });
  }
  const publicMessage = `${told}. ${advice(answer, what)}`;
  return new ForgeFault("forge_rejected", { publicMessage, retryable: mayPass, isWithoutEffect: true });
}

/** A sign-in page instead of an answer: the token is not accepted, and nothing was done. */
export function signInRefusal(forge: string, status: number): ForgeFault {
  const publicMessage = `${forge} answered ${status} with its sign-in page: the token is not accepted. ${newToken}`;
  return new ForgeFault("forge_rejected", { publicMessage, retryable: false, isWithoutEffect: true });
}

const newToken =
  'The project\'s token is missing, expired or revoked. Set a new one with "emend project set ID --token-env VARIABLE" or in its settings.';

/** GitHub answers 403 where others answer 429. Its headers tell the difference, or sometimes only its message. */
function isRateLimited({ status, headers, body }: RawAnswer): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return (
    headers.has("retry-after") || headers.get("x-ratelimit-remaining") === "0" || /rate limit/i.test(wordsOf(body))
  );
}

/** `Retry-After`, in seconds or as a date. */
function retryAfterMs(headers: Headers, nowMs = Date.now()): number | undefined {
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const seconds = Number(after);
  return bounded(Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - nowMs);
}

/** When an exhausted limit resets. Every response has this header, so it counts only if nothing remains. */
function resetMs(headers: Headers, nowMs = Date.now()): number | undefined {
  const remaining = headers.get("x-ratelimit-remaining") ?? headers.get("ratelimit-remaining");
  const reset = headers.get("x-ratelimit-reset") ?? headers.get("ratelimit-reset");
  return remaining === "0" && reset !== null ? bounded(Number(reset) * 1000 - nowMs) : undefined;
}

function bounded(ms: number): number | undefined {
  return Number.isFinite(ms) ? Math.min(Math.max(Math.ceil(ms), 0), retryMsMax) : undefined;
}

function advice({ status, headers, body }: RawAnswer, what: string): string {
  // GitHub answers 403, Gitea 423, GitLab 400 or 403. Only the message is common to all.
  if (/\barchived\b/i.test(wordsOf(body))) return "The repository is archived. Unarchive it, or remove the project.";
  // GitLab redirects only what reads, and answers 405 to the rest.
  if ((status >= 300 && status < 400) || (status === 405 && /\bmoved\b/i.test(wordsOf(body)))) {
    const target = headers.get("location");
    return `The repository has moved${target ? ` (${plainTarget(target)})` : ""}. Set its new URL with "emend project set ID --follow" or in its settings.`;
  }
  if (status === 401) return newToken;
  if (status === 403) return `The project's token may not ${what}. Add the permission, or use another token.`;
  if (status === 404) return "Check the project's repository URL, and that its token covers the repository.";
  if (status === 410 || status === 423) return "The repository is archived, locked or gone.";
  return `It does not let Emend ${what}.`;
}

/** Without a query, which may hold a secret. Gitea names the new place without a server. */
function plainTarget(target: string): string {
  const url = URL.parse(target, nowhere);
  if (!url) return "elsewhere";
  return `${url.origin === nowhere ? "" : url.origin}${url.pathname}`.slice(0, 200);
}

const nowhere = "https://relative.invalid";

/** Every forge's error message: `message`, `error`, and what GitHub and GitLab nest in them. */
export function wordsOf(body: unknown): string {
  const said: string[] = [];
  collect(body, said, 0);
  const words = [...new Set(said)]
    .join("; ")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes come from the far end
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, " ")
    .trim();
  return words.length <= wordsLengthMax ? words : `${words.slice(0, wordsLengthMax)}…`;
}

function collect(value: unknown, said: string[], depth: number): void {
  if (typeof value === "string") {
    if (depth > 0) said.push(value);
    return;
  }
  if (typeof value !== "object" || value === null || depth > 4) return;
  if (Array.isArray(value)) {
    for (const item of value) collect(item, said, depth + 1);
    return;
  }
  const { message, error, errors, detail, error_description: description } = value as Record<string, unknown>;
  const parts = [message, error, description, errors, detail].filter((part) => part !== undefined && part !== null);
  // GitLab: {"message":{"title":["is too long"]}}.
  if (parts.length === 0 && depth > 0) {
    for (const [name, part] of Object.entries(value)) {
      const inner: string[] = [];
      collect(part, inner, depth + 1);
      if (inner.length > 0) said.push(`${name} ${inner.join(", ")}`);
    }
  }
  for (const part of parts) collect(part, said, depth + 1);
}

/** Of what a forge said to each method of merging: why it refuses all, and not that the repository forbids one of them. */
export function refusalAmong(words: readonly string[]): string {
  return words.find((said) => !/not allowed/i.test(said)) ?? words.at(-1) ?? "";
}
