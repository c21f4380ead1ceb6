import type { FastifyInstance } from "fastify";
import { AppError } from "../errors.ts";
import { readJsonBodies } from "../http/json-body.ts";

const depthMax = 50;

/** JSON that the database can keep: refused here, once for every route, is what it would refuse to hear of. */
export function readBodies(app: FastifyInstance): void {
  readJsonBodies(app, (body) => refuseUnkeepable(body, 0));
}

function refuseUnkeepable(value: unknown, depth: number): void {
  if (typeof value === "string") refuseText(value);
  if (typeof value !== "object" || value === null) return;
  if (depth >= depthMax) throw invalid(`The body must not be nested deeper than ${depthMax} levels.`);
  for (const [key, inner] of Object.entries(value)) {
    refuseText(key);
    refuseUnkeepable(inner, depth + 1);
  }
}

function refuseText(text: string): void {
  if (text.includes("\0")) throw invalid("The body must not hold U+0000.");
  if (!text.isWellFormed()) throw invalid("The body must not hold a lone surrogate.");
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
