import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads JSON and nothing else. Own code, because the framework's turns bytes that are not UTF-8 into question marks.
 * `JSON.parse` takes the last of duplicate fields, and a field named `__proto__` is a field like any other.
 * `refuseBad` throws where the caller takes less than all JSON.
 */
export function readJsonBodies(app: FastifyInstance, refuseBad: (body: unknown) => void = () => {}): void {
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    (_request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void) => {
      try {
        const value = parse(body);
        refuseBad(value);
        done(null, value);
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(body));
  } catch (cause) {
    throw new AppError("invalid_request", { publicMessage: "The body is not valid JSON in UTF-8.", cause });
  }
}
