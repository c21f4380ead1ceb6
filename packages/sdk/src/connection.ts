import { EmendError } from "./errors.ts";

export interface EmendOptions {
  /** Where Emend answers, with or without a trailing slash; a base path is kept. */
  baseUrl: string;
  /** An API key, `emend_…`. It is a server-side secret. */
  apiKey: string;
  /** How often a request that may be repeated safely is repeated. */
  retriesMax?: number;
  /** The longest pause between two tries; a service that asks for a longer one gets no further try. */
  retryWaitMsMax?: number;
  /** How long one try may take; a long poll gets its waiting time on top. */
  timeoutMs?: number;
  /** Another `fetch`, to go through a proxy or to record. */
  fetch?: typeof fetch;
}

export interface Connection {
  baseUrl: string;
  apiKey: string;
  retriesMax: number;
  retryWaitMsMax: number;
  timeoutMs: number;
  fetch: typeof fetch;
}

/** Checks the options once, so that a bad one is told at construction and not as a strange network error. */
export function connection(options: EmendOptions): Connection {
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    apiKey: parseApiKey(options.apiKey),
    retriesMax: options.retriesMax ?? 4,
    retryWaitMsMax: options.retryWaitMsMax ?? 30_000,
    timeoutMs: options.timeoutMs ?? 30_000,
    fetch: options.fetch ?? fetch,
  };
}

function parseBaseUrl(text: string): string {
  if (!URL.canParse(text)) {
    throw new EmendError("invalid_request", "baseUrl is not a URL; give one such as http://localhost:4600");
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new EmendError("invalid_request", "baseUrl must begin with http:// or https://");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new EmendError("invalid_request", "baseUrl must hold no user, password, query or fragment");
  }
  return url.href.replace(/\/+$/, "");
}

function parseApiKey(text: string): string {
  // A key read from a file often ends with a line feed; inside, no header may hold one.
  const key = text.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new EmendError("invalid_request", "apiKey is empty or holds characters that no key has");
  }
  return key;
}
