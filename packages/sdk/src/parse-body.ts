import type { Connection } from "./connection.ts";
import { EmendError } from "./errors.ts";
import type { ApiResponse } from "./exchange.ts";

/** The JSON of an answer; a proxy's page or another service's JSON is told apart from what was expected. */
export function parseBody<T>(
  deps: Connection,
  response: ApiResponse,
  what: { name: string; is(body: object): body is T & object },
): T {
  let body: unknown;
  try {
    body = JSON.parse(response.text);
  } catch (cause) {
    throw unexpected(deps, response, what.name, cause);
  }
  if (typeof body !== "object" || body === null || !what.is(body)) throw unexpected(deps, response, what.name);
  return body;
}

function unexpected(deps: Connection, response: ApiResponse, name: string, cause?: unknown): EmendError {
  const message = `${deps.baseUrl} answered with something that is no Emend ${name}; is baseUrl right?`;
  return new EmendError("invalid_response", message, { status: response.status, cause });
}
