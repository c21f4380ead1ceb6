import { basePath } from "../base-path.ts";

/** A refusal of the server with its message, or a failed connection. */
export class ApiError extends Error {
  /** 0: no response. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

/** The server is unavailable: it did not answer, or answered with a temporary error. */
export function isAway(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

/** Events: a session "ended" while pages were open, or "resumed" because somebody logged in again. */
export const sessionEnded = new EventTarget();

export function apiUrl(path: string): string {
  return `${basePath}dashboard/api${path}`;
}

export async function request<T>(
  path: string,
  options: { method?: string; body?: unknown; signal?: AbortSignal } = {},
) {
  const { body, method = body === undefined ? "GET" : "POST", signal } = options;
  const answer = await fetch(apiUrl(path), {
    method,
    ...(signal && { signal }),
    ...(body instanceof Blob && { body, headers: { "content-type": body.type || "application/octet-stream" } }),
    ...(body !== undefined &&
      !(body instanceof Blob) && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  }).catch((error) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "Can't reach the server. Your text is still here. Try again in a moment.");
  });
  const json = await readJson(answer, signal);
  if (answer.ok && json !== undefined) return json as T;
  if (answer.status === 401 && !path.startsWith("/auth")) sessionEnded.dispatchEvent(new Event("ended"));
  if (answer.ok) throw new ApiError(0, foreignWords);
  throw new ApiError(answer.status, `${wordsOf(json) ?? wordsFor(answer.status)}${waitOf(answer)}`);
}

const foreignWords =
  "The answer was incomplete or not from Emend. Check whether the change was made before you try again.";

/**
 * Null for an empty body. Undefined for a body that is not JSON, such as a network's login page, or that was
 * interrupted.
 */
async function readJson(answer: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    const text = await answer.text();
    return text === "" ? null : JSON.parse(text);
  } catch (error) {
    if (signal?.aborted) throw error;
    return undefined;
  }
}

/** For responses of something between here and the server. */
function wordsFor(status: number): string {
  if (status >= 500) return `The server is unavailable (${status}). Your text is still here. Try again in a moment.`;
  return `The server answered ${status}.`;
}

function waitOf(answer: Response): string {
  const seconds = Number(answer.headers.get("retry-after") ?? 0);
  if (answer.status !== 429 || !(seconds > 0)) return "";
  return seconds < 120 ? ` Try again in ${seconds} s.` : ` Try again in ${Math.ceil(seconds / 60)} minutes.`;
}

function wordsOf(json: unknown): string | null {
  const error = typeof json === "object" && json !== null && "error" in json ? json.error : null;
  return typeof error === "string" ? error : null;
}
