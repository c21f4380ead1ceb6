import type { FastifyReply } from "fastify";
import type { WireJob } from "../../jobs/wire-job.ts";

/** A job with the headers that each of its answers has. */
export function sendJob(reply: FastifyReply, job: WireJob): FastifyReply {
  reply.header("content-type", "application/json; charset=utf-8");
  reply.header("cache-control", "no-store");
  reply.header("etag", job.etag);
  return reply.send(job.body);
}
