import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const digits = "0123456789abcdefghijkmnpqrstuvwxyz"; // no l, o: read aloud without doubt
const timeLength = 9;
const randomLength = 14;

/** An opaque, URL-safe id that sorts by creation: `<prefix>_<milliseconds><random>`. */
export function newId(
  prefix:
    | "prj"
    | "job"
    | "whk"
    | "ctx"
    | "usr"
    | "cmt"
    | "edt"
    | "gat"
    | "thr"
    | "isr"
    | "kno"
    | "chm"
    | "cht"
    | "chp"
    | "upl"
    | "dru"
    | "drg",
  now = Date.now(),
): string {
  let time = "";
  for (let rest = now; time.length < timeLength; rest = Math.floor(rest / digits.length)) {
    time = digits[rest % digits.length] + time;
  }
  return `${prefix}_${time}${randomDigits(randomLength)}`;
}

function randomDigits(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // Larger bytes would favor the first digits.
      if (byte < 238 && text.length < length) text += digits[byte % digits.length];
    }
  }
  return text;
}

const id = Symbol("requestId");
const job = Symbol("jobId");

/** Records the job that a request created, for the log. */
export function rememberCreatedJob(request: IncomingMessage & { [job]?: string }, jobId: string): void {
  request[job] = jobId;
}

export function createdJobOf(request: IncomingMessage & { [job]?: string }): string | undefined {
  return request[job];
}

export function newRequestId(): string {
  return `req_${randomUUID()}`;
}

/** One id for all log lines of a request and for its response: the caller's `X-Request-Id` if it is usable. */
export function requestId(request: IncomingMessage & { [id]?: string }): string {
  if (request[id] === undefined) {
    const given = request.headers["x-request-id"];
    const isUsable = typeof given === "string" && /^[\w.:-]{1,128}$/.test(given);
    request[id] = isUsable ? given : newRequestId();
  }
  return request[id];
}
