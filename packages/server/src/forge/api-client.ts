import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { AppError, isAppError } from "../errors.ts";
import { type Fetch, readBody } from "../lib/network.ts";
import { type RawAnswer, refusalOf } from "./api-refusal.ts";
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
}

/** Small values take fifteen times their size once parsed. */
const answerBytesMax = 8 * 1024 * 1024;
/** Applies to each request, so each page of a list has this long. */
const requestMsMax = 15_000;

/** Sends JSON requests to a forge. It never retries: only the caller knows what is safe to repeat. */
export function createApiClient(options: {
  fetch: Fetch;
  /** The forge's product name. */
  forge: string;
  /** Without a trailing slash. */
  apiUrl: string;
  headers?: Readonly<Record<string, string>>;
  authorization(signal: AbortSignal): Promise<string | null>;
  /** For polling: a response that did not change is not read again. */
  polling?: Polling;
  /** Whether a 304 response counts against the rate limit. */
  isUnmodifiedFree?: boolean;
  /** The token's rate limit, if responses do not state it. */
  requestsAnHour?: number;
}): ApiClient {
  const { forge, apiUrl, polling } = options;

  async function exchange(
    request: ApiRequest<TSchema>,
    known: ReturnType<Polling["recall"]>,
    signal: AbortSignal,
  ): Promise<RawAnswer> {
    const authorization = await options.authorization(signal);
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
        signal: AbortSignal.any([signal, AbortSignal.timeout(requestMsMax)]),
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
      throw isAppError(error) ? error : unreachable(forge, url.host, error);
    }
  }

  function urlOf(request: ApiRequest<TSchema>): URL {
    const url = new URL(`${apiUrl}${request.path}`);
    for (const [name, value] of Object.entries(request.query ?? {})) {
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
    if (answer.status >= 200 && answer.status < 300) {
      if (Value.Check(request.answer, answer.body)) {
        const { body: value, headers } = answer;
        if (polling && request.method === "GET") polling.remember(key, headers, Value.Clean(request.answer, value));
        return { kind: "ok", value, headers };
      }
      throw new AppError("forge_unavailable", {
        publicMessage: `${forge} answered ${answer.status} in a format that Emend does not understand.`,
        retryable: true,
      });
    }
    if (statuses.includes(answer.status)) return { kind: "refused", ...answer };
    throw refusalOf(forge, answer, request.what);
  }

  return {
    ask,
    async call(request, signal) {
      const outcome = await ask(request, [], signal);
      if (outcome.kind === "ok") return outcome.value;
      throw new AppError("internal", { publicMessage: "The forge returned an unexpected error." });
    },
  };
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

/** Certificate errors are permanent; other network errors may pass. */
function unreachable(forge: string, host: string, error: unknown): AppError {
  const code = String(
    (error as { cause?: { code?: unknown } })?.cause?.code ?? (error as { code?: unknown })?.code ?? "",
  );
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code);
  if (isCertificate) {
    return new AppError("forge_rejected", {
      publicMessage: `${forge}'s certificate is not trusted (${code}). Set EMEND_CA_FILE to a file with its certificate authority.`,
      cause: error,
    });
  }
  return new AppError("forge_unavailable", {
    publicMessage: `${forge} did not answer at ${host}${code ? ` (${code})` : ""}.`,
    retryable: true,
    cause: error,
  });
}
