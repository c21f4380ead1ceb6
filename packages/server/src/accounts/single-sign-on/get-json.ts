import { AppError } from "../../errors.ts";
import { type Fetch, readBody } from "../../lib/network.ts";
import { reasonOf } from "./refusal-reasons.ts";

const askMsMax = 10_000;
const answerBytesMax = 1024 * 1024;

interface Question {
  url: string;
  headers?: Record<string, string>;
  /** Sent as a form, by POST. */
  form?: URLSearchParams;
}

/** An object in JSON from the provider; bounded in time and size, and never through a redirect. */
export async function getJson(
  fetch: Fetch,
  question: Question,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { url, form, headers = {} } = question;
  let status = 0;
  let text = "";
  try {
    const answer = await fetch(url, {
      method: form ? "POST" : "GET",
      headers: {
        accept: "application/json",
        ...(form && { "content-type": "application/x-www-form-urlencoded" }),
        ...headers,
      },
      ...(form && { body: form.toString() }),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(askMsMax)]),
    });
    status = answer.status;
    text = (await readBody(answer.body, answerBytesMax)).toString("utf8");
  } catch (cause) {
    throw new AppError("unavailable", {
      publicMessage: "Can't reach the identity provider. Try again in a moment.",
      message: "identity provider not reached",
      retryAfterMs: 5_000,
      cause,
    });
  }
  const json = parse(text);
  if (status === 200 && json) return json;
  throw providerFault(`it answered ${status}${json?.error === undefined ? "" : ` (${reasonOf(json.error)})`}`);
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null && !Array.isArray(json) ? { ...json } : null;
  } catch {
    return null;
  }
}

/** The provider did something that no login may rest on. */
export function providerFault(what: string, cause?: unknown): AppError {
  return new AppError("forbidden", { publicMessage: `The identity provider was not believed: ${what}.`, cause });
}
