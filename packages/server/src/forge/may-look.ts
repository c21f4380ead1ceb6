import type { Static, TSchema } from "typebox";
import type { ApiClient, ApiRequest } from "./api-client.ts";

/** A response with its headers. Null if the credential lacks the permission. */
export async function mayLook<T extends TSchema>(
  api: ApiClient,
  request: Pick<ApiRequest<T>, "path" | "query" | "answer">,
  signal: AbortSignal,
): Promise<{ value: Static<T>; headers: Headers } | null> {
  const outcome = await api.ask(
    { ...request, method: "GET", what: "look at its settings" },
    [401, 403, 404, 405],
    signal,
  );
  return outcome.kind === "ok" ? outcome : null;
}
