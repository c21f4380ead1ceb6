import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { waitSecondsMax } from "@emend/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { QuotaState } from "../jobs/create-job.ts";

/** Sends serialized JSON that must not be cached. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  reply.header("content-type", "application/json; charset=utf-8");
  reply.header("cache-control", "no-store");
  return reply.send(text);
}

/** Whether `If-None-Match` names this tag: weakly compared, in a list, or `*` (RFC 9110). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header === "*") return true;
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** The quota in the IETF draft's headers, and in those that older clients know. */
export function rateLimitHeaders(policy: "create" | "message", quota: QuotaState): Record<string, string> {
  const windowSeconds = quota.windowMs / 1000;
  return {
    "ratelimit-policy": `"${policy}";q=${quota.usesMax};w=${windowSeconds}`,
    ratelimit: `"${policy}";r=${quota.usesLeft};t=${Math.ceil(quota.freesInMs / 1000)}`,
    "x-ratelimit-limit": String(quota.usesMax),
    "x-ratelimit-remaining": String(quota.usesLeft),
    "x-ratelimit-reset": String(Math.ceil(quota.freesAt.getTime() / 1000)),
  };
}

/** The granted seconds of `Prefer: wait=N` (RFC 7240). Null if absent or invalid. */
export function preferredWaitSeconds(header: string | string[] | undefined): number | null {
  if (header === undefined) return null;
  for (const preference of [header].flat().join(",").split(",")) {
    const match = /^\s*wait\s*=\s*(?:"(\d+)"|(\d+))\s*(?:;|$)/i.exec(preference);
    // The first one counts.
    if (match) return Math.min(waitSecondsMax, Number(match[1] ?? match[2]));
  }
  return null;
}

/** A file in memory that is sent compressed, and not at all to those who have it. */
export interface StaticFile {
  send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

type Encoding = "br" | "gzip";

const compress: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  // Its best takes seconds for megabytes, and saves little over this.
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: promisify(gzip),
};

/** Each form is made when it is first asked for. */
export function createStaticFile(file: { bytes: Buffer; type: string; cacheControl: string }): StaticFile {
  const etag = `W/"${hash("sha256", file.bytes, "base64url")}"`;
  const made = new Map<Encoding, Promise<Buffer>>();

  function inForm(encoding: Encoding): Promise<Buffer> {
    const ready = made.get(encoding) ?? compress[encoding](file.bytes);
    made.set(encoding, ready);
    return ready;
  }

  return {
    async send(request, reply) {
      reply.headers({ "cache-control": file.cacheControl, etag, vary: "accept-encoding" });
      reply.header("x-content-type-options", "nosniff");
      if (String(request.headers["if-none-match"] ?? "").includes(etag)) return reply.code(304).send();
      const taken = String(request.headers["accept-encoding"] ?? "");
      const encoding = (["br", "gzip"] as const).find((one) =>
        new RegExp(`\\b${one}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(taken),
      );
      if (encoding) reply.header("content-encoding", encoding);
      return reply.type(file.type).send(encoding ? await inForm(encoding) : file.bytes);
    },
  };
}
