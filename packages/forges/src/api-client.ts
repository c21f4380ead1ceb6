import { createHash } from "node:crypto";
import { isFault } from "@emend/base/fault.ts";
import { AnswerTooLong, type Fetch, readBody } from "@emend/base/network.ts";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { type RawAnswer, refusalOf, signInRefusal } from "./api-refusal.ts";
import { ForgeFault } from "./faults.ts";
import type { Polling } from "./polling.ts";

export interface ApiRequest<T extends TSchema> {
  method: "GET" | "POST" | "PATCH" | "PUT";
  /** Relative to the API's URL; each part encoded. */
  path: string;
  /** An array becomes repeated parameters. */
  query?: Readonly<Record<string, string | number | readonly string[]>>;
  body?: unknown;
  /** The schema of the parts that Emend relies on. */
  answer: T;
  /** For messages: "open a pull request". */
  what: string;
  /** How long to wait for the answer, if not as long as for most requests. */
  answerMsMax?: number;
}

/** A response with one of the statuses that the caller handles itself. */
type ApiOutcome<T> =
  | { kind: "ok"; value: T; headers: Headers }
  | { kind: "refused"; status: number; body: unknown; headers: Headers };

export interface ApiClient {
  /** Returns the response, or throws the forge's refusal. */
  call<T extends TSchema>(request: ApiRequest<T>, signal: AbortSignal): Promise<Static<T>>;
  /** Returns responses with these statuses instead of throwing. */
  ask<T extends TSchema>(
    request: ApiRequest<T>,
    statuses: readonly number[],
    signal: AbortSignal,
  ): Promise<ApiOutcome<Static<T>>>;
  /** The last part of a text, such as a log. Null: it does not exist, or this credential may not read it. */
  readTail(path: string, signal: AbortSignal): Promise<string | null>;
}

/** Small values take fifteen times their size once parsed. */
const answerBytesMax = 8 * 1024 * 1024;
/** What is kept of a text's end, and how much of the text is read to get there. */
const tailBytesMax = 64 * 1024;
const textBytesMax = 32 * 1024 * 1024;
/** Applies to each request, so each page of a list has this long. */
const requestMsMax = 15_000;
/**
 * For requests that must not be sent twice: slow servers take minutes, and hanging up does not stop them. A little
 * longer than publishing waits, so that it has the last word.
 */
export const createMsMax = 310_000;

/** Sends JSON requests to a forge. It never retries: only the caller knows what is safe to repeat. */
export function createApiClient(options: {
  fetch: Fetch;
  /** The forge's product name. */
  forge: string;
  /** Without a trailing slash. */
  apiUrl: string;
  headers?: Readonly<Record<string, string>>;
  authorization(signal: AbortSignal): Promise<string | null>;
  /** A 401 did nothing on the forge. True: there is another credential now, and the request is sent once more. */
  renew?(refused: string): Promise<boolean>;
  /** For polling: a response that did not change is not read again. */
  polling?: Polling;
  /** Whether a 304 response counts against the rate limit. */
  isUnmodifiedFree?: boolean;
  /** The token's rate limit, if responses do not state it. */
  requestsAnHour?: number;
  /** Parameters of every request, such as the API's version. */
  query?: Readonly<Record<string, string>>;
  /** Whether this asks people to sign in, which some forges answer to a token that they do not accept. */
  isSignIn?(answer: RawAnswer): boolean;
}): ApiClient {
  const { forge, apiUrl, polling } = options;

  async function exchange(
    request: ApiRequest<TSchema>,
    known: ReturnType<Polling["recall"]>,
    signal: AbortSignal,
  ): Promise<RawAnswer> {
    const first = await options.authorization(signal);
    const answer = await send(request, known, first, signal);
    if (answer.status !== 401 || first === null || !(await options.renew?.(first))) return answer;
    return send(request, known, await options.authorization(signal), signal);
  }

  async function send(
    request: ApiRequest<TSchema>,
    known: ReturnType<Polling["recall"]>,
    authorization: string | null,
    signal: AbortSignal,
  ): Promise<RawAnswer> {
    const url = urlOf(request);
    const hasBody = request.body !== undefined;
    try {
      const response = await options.fetch(url.href, {
        method: request.method,
        headers: {
          accept: "application/json",
          "user-agent": "emend",
          ...options.headers,
          ...(hasBody ? { "content-type": "application/json" } : {}),
          ...(authorization === null ? {} : { authorization }),
          ...(known && { "if-none-match": known.etag }),
        },
        ...(hasBody ? { body: JSON.stringify(request.body) } : {}),
        // A credential must not be sent to a redirect's target.
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(request.answerMsMax ?? requestMsMax)]),
      });
      polling?.count(
        response.headers,
        response.status === 304 && options.isUnmodifiedFree === true,
        options.requestsAnHour,
      );
      const text = (await readBody(response.body, answerBytesMax)).toString("utf8");
      return { status: response.status, headers: response.headers, body: parseJson(text) };
    } catch (error) {
      signal.throwIfAborted();
      // A refused address stays refused: do not retry.
      throw isFault(error) ? error : unreachable(forge, url.host, error);
    }
  }

  function urlOf(request: Pick<ApiRequest<TSchema>, "path" | "query">): URL {
    const url = new URL(`${apiUrl}${request.path}`);
    for (const [name, value] of Object.entries({ ...options.query, ...request.query })) {
      url.searchParams.delete(name);
      for (const one of [value].flat()) url.searchParams.append(name, String(one));
    }
    return url;
  }

  async function ask<T extends TSchema>(
    request: ApiRequest<T>,
    statuses: readonly number[],
    signal: AbortSignal,
  ): Promise<ApiOutcome<Static<T>>> {
    // The same URL may be requested with two schemas.
    const key = `${request.what} ${urlOf(request).href}`;
    const known = request.method === "GET" ? polling?.recall(key) : undefined;
    const answer = await exchange(request, known, signal);
    if (known && answer.status === 304) {
      return { kind: "ok", value: known.value as Static<T>, headers: known.headers };
    }
    if (options.isSignIn?.(answer)) {
      if (statuses.includes(401)) return { kind: "refused", ...answer, status: 401 };
      throw signInRefusal(forge, answer.status);
    }
    if (answer.status >= 200 && answer.status < 300) {
      if (Value.Check(request.answer, answer.body)) {
        const { body: value, headers } = answer;
        if (polling && request.method === "GET") polling.remember(key, headers, Value.Clean(request.answer, value));
        return { kind: "ok", value, headers };
      }
      throw new ForgeFault("forge_unavailable", {
        publicMessage: `${forge} answered ${answer.status} in a format that Emend does not understand.`,
        retryable: true,
      });
    }
    if (statuses.includes(answer.status)) return { kind: "refused", ...answer };
    throw refusalOf(forge, answer, request.what);
  }

  async function readTail(path: string, signal: AbortSignal): Promise<string | null> {
    const get = async (href: string, authorization: string | null) => {
      const response = await options.fetch(href, {
        method: "GET",
        headers: {
          accept: "*/*",
          "user-agent": "emend",
          ...(authorization === null ? {} : { ...options.headers, authorization }),
        },
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(requestMsMax)]),
      });
      polling?.count(response.headers, false, options.requestsAnHour);
      return response;
    };
    const url = urlOf({ path });
    try {
      let answer = await get(url.href, await options.authorization(signal));
      const next = [301, 302, 303, 307, 308].includes(answer.status) ? answer.headers.get("location") : null;
      if (next !== null) {
        await discard(answer.body);
        const stored = URL.parse(next, url.href);
        if (!stored || (stored.protocol !== "https:" && stored.origin !== url.origin)) return null;
        // Where the text is stored, the address is the permission. The credential is not sent there.
        answer = await get(stored.href, null);
      }
      if (answer.status === 200) return await lastOf(answer.body);
      await discard(answer.body);
      return null;
    } catch (error) {
      signal.throwIfAborted();
      throw isFault(error) ? error : unreachable(forge, url.host, error);
    }
  }

  return {
    ask,
    readTail,
    async call(request, signal) {
      const outcome = await ask(request, [], signal);
      if (outcome.kind === "ok") return outcome.value;
      throw new ForgeFault("internal", { publicMessage: "The forge returned an unexpected error." });
    },
  };
}

/** Hangs up: what is left is not read. */
async function discard(body: AsyncIterable<Uint8Array> | null): Promise<void> {
  await body?.[Symbol.asyncIterator]().return?.();
}

async function lastOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  let kept = Buffer.alloc(0);
  let read = 0;
  for await (const chunk of body ?? []) {
    read += chunk.length;
    kept = Buffer.concat([kept, chunk]);
    if (kept.length > 2 * tailBytesMax) kept = kept.subarray(-tailBytesMax);
    if (read > textBytesMax) break;
  }
  const text = kept.subarray(-tailBytesMax).toString("utf8");
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** Escapes that no database accepts: U+0000 and lone surrogates. */
const oddEscape = /\\u(?:0000|d[89a-f])/i;

/** Text that is not JSON fails its schema, or becomes a refusal without a message. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, oddEscape.test(text) ? storable : undefined);
  } catch {
    return undefined;
  }
}

function storable(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value;
}

/** No request was sent. */
const unconnected = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** Certificate errors are permanent; other network errors may pass. */
function unreachable(forge: string, host: string, error: unknown): ForgeFault {
  const code = String(
    (error as { cause?: { code?: unknown } })?.cause?.code ?? (error as { code?: unknown })?.code ?? "",
  );
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code);
  if (isCertificate) {
    return new ForgeFault("forge_rejected", {
      publicMessage: `${forge}'s certificate is not trusted (${code}). Set EMEND_CA_FILE to a file with its certificate authority.`,
      cause: error,
    });
  }
  const isLong = error instanceof AnswerTooLong;
  return new ForgeFault("forge_unavailable", {
    publicMessage: isLong
      ? `${forge} answered with more than ${answerBytesMax / 1024 ** 2} MB.`
      : `${forge} did not answer at ${host}${code ? ` (${code})` : ""}.`,
    retryable: true,
    isWithoutEffect: unconnected.includes(code),
    cause: error,
  });
}

export function isTooLong(error: unknown): boolean {
  return isFault(error) && error.cause instanceof AnswerTooLong;
}

/**
 * Reads a paginated list until its end, until there are enough items, or until `isLast` returns true. A server may send
 * smaller pages than requested, so its headers tell whether there are more. `newest`: of a list that begins with the
 * oldest and has too many pages, the last ones are read.
 */
export async function listPages<T extends TSchema>(
  api: ApiClient,
  request: Omit<ApiRequest<T>, "method" | "answer"> & {
    item: T;
    sizeName: "per_page" | "limit" | "pagelen";
    pageSize: number;
    newest?: boolean;
    isLast?(item: Static<T>): boolean;
  },
  pagesMax: number,
  signal: AbortSignal,
): Promise<readonly Static<T>[]> {
  const { item, sizeName, pageSize, query, newest, isLast, ...rest } = request;
  const items: Static<T>[] = [];
  let skipped = 0;
  for (let page = 1; page <= pagesMax + skipped; page += 1) {
    const pageQuery = { ...query, [sizeName]: pageSize, page };
    const outcome = await api.ask({ ...rest, method: "GET", query: pageQuery, answer: Type.Array(item) }, [], signal);
    if (outcome.kind !== "ok") break;
    const listed = outcome.value as Static<T>[];
    const pages = newest && page === 1 ? pagesIn(outcome.headers, listed.length) : 0;
    if (pages > pagesMax) {
      skipped = pages - pagesMax;
      page = skipped;
      continue;
    }
    for (const one of listed) items.push(one);
    const last = listed.at(-1);
    if (last !== undefined && isLast?.(last)) break;
    if (!hasMore(outcome.headers, items.length + skipped * listed.length, listed.length, pageSize)) break;
  }
  return items;
}

/** How many pages there are, as the first one says: by its total, or by its link to the last. 0: unknown. */
function pagesIn(headers: Headers, listed: number): number {
  const total = headers.get("x-total-count") ?? headers.get("x-total");
  if (total !== null) return listed === 0 ? 0 : Math.ceil(Number(total) / listed);
  const last = /<([^>]*)>;\s*rel="?last"?/.exec(headers.get("link") ?? "")?.[1];
  return Number(URL.parse(last ?? "")?.searchParams.get("page") ?? 0);
}

/** `count`: all items up to here; `listed`: those of this page. */
export function hasMore(headers: Headers, count: number, listed: number, pageSize: number): boolean {
  // GitLab: its total counts what the reader may not see, and a page can be empty for that reason.
  const next = headers.get("x-next-page");
  if (next !== null) return next !== "";
  if (listed === 0) return false;
  const total = headers.get("x-total-count") ?? headers.get("x-total");
  // Gitea's total of a timeline counts the page only. So a full page that is the total may have a successor.
  if (total !== null) return count < Number(total) || (listed >= pageSize && Number(total) === listed);
  const link = headers.get("link");
  if (link !== null) return /rel="?next"?/.test(link);
  return listed >= pageSize;
}

/** The URL of a page on the forge. People click it, so only http and https are accepted. */
export const PageUrl = Type.String({ maxLength: 2000, pattern: '^https?://[^\\s\\u0000-\\u0020"<>\\\\\\u007f]+$' });

/** The database's limit. No forge comes near it. */
export const PullNumber = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });

/** Identifies a credential without revealing it. Projects with the same credential share one write queue. */
export function credentialIdOf(forge: string, apiUrl: string, credential: string): string {
  return `${forge}:${createHash("sha256").update(`${apiUrl}\0${credential}`).digest("hex").slice(0, 20)}`;
}

/** For git over HTTP. */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, "utf8").toString("base64")}`;
}

/** A response with its headers. Null if the credential lacks the permission. */
export async function mayLook<T extends TSchema>(
  api: ApiClient,
  request: Pick<ApiRequest<T>, "path" | "query" | "answer">,
  signal: AbortSignal,
): Promise<{ value: Static<T>; headers: Headers } | null> {
  const outcome = await api.ask(
    { ...request, method: "GET", what: "look at its settings" },
    [401, 403, 404, 405],
    signal,
  );
  return outcome.kind === "ok" ? outcome : null;
}
