import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

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
