import { acquireForResponse, createKeyedSemaphore } from "@emend/base/locks.ts";
import { uploadBytesMax, uploadTypes } from "@emend/contract";
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from "fastify";
import type { Pool } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { addUpload } from "../../jobs/uploads/uploads.ts";
import { takeBody } from "../request-body.ts";
import type { Door } from "./job-handlers.ts";

/** Each is in memory until it is stored. */
const uploading = { perHolderMax: 2, allMax: 8 };

/** Takes a file as it is, for API keys and for browser sessions. */
export function uploadRoute(
  app: FastifyInstance,
  path: string,
  options: { schema?: object; onRequest?: onRequestHookHandler },
  deps: { pool: Pool },
  door: Door,
): void {
  const seats = createKeyedSemaphore(uploading);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      [...uploadTypes],
      { parseAs: "buffer", bodyLimit: uploadBytesMax },
      (_request: FastifyRequest, body: Buffer, done: (error: null, value: Buffer) => void) => done(null, body),
    );
    scope.addHook("preParsing", async (request, reply, payload) => {
      if (acquireForResponse(seats, door.holderOf(request), reply.raw)()) return payload;
      throw new AppError("rate_limited", { publicMessage: "Other uploads are running. Retry.", retryAfterMs: 1_000 });
    });
    scope.post(path, { ...options, bodyLimit: uploadBytesMax, preParsing: takeBody }, async (request, reply) => {
      const project = await door.projectOf(request);
      const { body } = request;
      if (!Buffer.isBuffer(body)) {
        throw new AppError("invalid_request", {
          publicMessage: "The body is empty. Send the file itself as the body.",
        });
      }
      const { name } = request.query as { name?: unknown };
      const upload = await addUpload(deps.pool, {
        projectId: project.id,
        name: typeof name === "string" ? name.slice(0, 1000) : "",
        bytes: body,
        createdBy: door.authorOf(request),
      });
      return reply.code(201).header("cache-control", "no-store").send(upload);
    });
  });
}
