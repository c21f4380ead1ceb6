import { type Static, Type } from "typebox";
import { AppError } from "../errors.ts";
import { PageUrl } from "./answer-parts.ts";
import type { ApiClient } from "./api-client.ts";

/** Each forge names its page's field differently. */
const Repository = Type.Object({
  html_url: Type.Optional(PageUrl),
  web_url: Type.Optional(PageUrl),
  links: Type.Optional(Type.Object({ html: Type.Optional(Type.Object({ href: PageUrl })) })),
});
const moved = [301, 302, 307, 308];

/**
 * The repository's current URL. If the forge renamed or moved it, its redirect is followed once, and never to another
 * server, because the token is sent along.
 */
export async function findAddress(
  repository: { api: ApiClient; path: string; apiUrl: string },
  signal: AbortSignal,
): Promise<string> {
  const { api, apiUrl } = repository;
  const request = { method: "GET", answer: Repository, what: "read the repository" } as const;
  const first = await api.ask({ ...request, path: repository.path }, moved, signal);
  if (first.kind === "ok") return addressIn(first.value);
  const target = URL.parse(first.headers.get("location") ?? "", `${apiUrl}/`);
  if (!target?.href.startsWith(`${apiUrl}/`)) {
    throw new AppError("forge_rejected", {
      publicMessage: "The repository has moved to another server. Set its new address with --repo, and a token for it.",
    });
  }
  return addressIn(await api.call({ ...request, path: target.href.slice(apiUrl.length) }, signal));
}

function addressIn({ html_url, web_url, links }: Static<typeof Repository>): string {
  const found = html_url ?? web_url ?? links?.html?.href;
  if (found) return found;
  throw new AppError("forge_unavailable", { publicMessage: "The forge does not report the repository's URL." });
}
