import type { Fetch } from "@emend/base/network.ts";
import { isLoopback } from "@emend/base/network.ts";
import { type Static, Type } from "typebox";
import { type ApiClient, hasMore, PageUrl } from "./api-client.ts";
import { ForgeFault } from "./faults.ts";

/** A repository's URL, in any notation. */
interface RepositoryAddress {
  /** `https://host[:port]`. */
  origin: string;
  /** Its folders and name, without outer slashes and `.git`. */
  segments: readonly string[];
  /** The repository's page: origin and segments. */
  url: string;
}

/** `git@host:owner/name`, as git hosts show it. */
const scpForm = /^(?:[\w.-]+@)?([\w.-]+\.[\w-]+|localhost):(?!\d+\/)(?!\/\/)(.+)$/;
const plainSegment = /^[\w.~+-]+$/;

/**
 * Accepts https, ssh and scp notation, with ports, `.git` and trailing slashes. Refuses anything else with a message.
 */
export function parseRepositoryAddress(text: string, options: { mayBeHttp: boolean }): RepositoryAddress {
  const url = toUrl(text.trim());
  if (url.search || url.hash) throw refused("it must not contain a query or a fragment");
  // Git over SSH needs no password, and its user has no meaning.
  if (url.password || (url.username && url.protocol !== "ssh:")) {
    throw refused("it contains a credential. Remove it and pass the token separately");
  }
  if (url.protocol === "http:" && !options.mayBeHttp && !isLoopback(url.hostname)) {
    throw refused("http would send the token unencrypted. Use https, or set an http API URL on purpose");
  }
  const segments = segmentsOf(url.pathname);
  if (segments.length < 2) throw refused("it must name an owner and a repository");
  const origin = url.protocol === "ssh:" ? `https://${url.hostname}` : url.origin;
  return { origin, segments, url: `${origin}/${segments.join("/")}` };
}

function toUrl(text: string): URL {
  const scp = scpForm.exec(text);
  const full = scp ? `ssh://${scp[1]}/${scp[2]}` : /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.parse(full.replace(/^git\+(?=(ssh|https?):)/, ""));
  if (!url || !["https:", "http:", "ssh:"].includes(url.protocol)) {
    throw refused("use a full URL, such as https://host/owner/name");
  }
  return url;
}

function segmentsOf(pathname: string): readonly string[] {
  const path = pathname
    // GitLab's pages of a repository.
    .replace(/\/-\/.*$/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/i, "");
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.every((segment) => plainSegment.test(segment) && !/^\.+$/.test(segment))) return segments;
  throw refused("its path contains invalid characters");
}

function refused(why: string): ForgeFault {
  return new ForgeFault("invalid_request", { publicMessage: `Emend can't use this repository URL: ${why}.` });
}

/** A repository on a forge with one owner per repository, `<owner>/<name>`, below the API's folder if there is one. */
export function ownedRepository(
  address: RepositoryAddress,
  folder: readonly string[],
): { owner: string; name: string; path: string } {
  const [owner, name, ...others] = segmentsBelow(address, folder);
  if (owner === undefined || name === undefined || others.length > 0) {
    throw refused("it must end with the owner and the repository, and nothing after them");
  }
  return { owner, name, path: `${owner}/${name}` };
}

/** The path after the folder that the forge is served from. */
export function segmentsBelow(address: RepositoryAddress, folder: readonly string[]): readonly string[] {
  const isBelow = folder.every((segment, index) => address.segments[index] === segment);
  return isBelow ? address.segments.slice(folder.length) : address.segments;
}

/** The folder that a forge is served from, by its API's URL. Empty if the API is elsewhere. */
export function folderOfApi(apiUrl: URL, address: RepositoryAddress, apiPath: string): readonly string[] {
  if (apiUrl.origin !== address.origin) return [];
  const path = apiUrl.pathname.replace(/\/+$/, "");
  return path.endsWith(apiPath) ? path.slice(0, -apiPath.length).split("/").filter(Boolean) : [];
}

/** Each forge names its page's field differently. */
const Repository = Type.Object({
  html_url: Type.Optional(PageUrl),
  web_url: Type.Optional(PageUrl),
  webUrl: Type.Optional(PageUrl),
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
  // A relative address is relative to the one that was asked for.
  const target = URL.parse(first.headers.get("location") ?? "", `${apiUrl}${repository.path}`);
  if (!target?.href.startsWith(`${apiUrl}/`)) {
    throw new ForgeFault("forge_rejected", {
      publicMessage: "The repository has moved to another server. Set its new address with --repo, and a token for it.",
    });
  }
  return addressIn(await api.call({ ...request, path: target.href.slice(apiUrl.length) }, signal));
}

function addressIn({ html_url, web_url, webUrl, links }: Static<typeof Repository>): string {
  const found = html_url ?? web_url ?? webUrl ?? links?.html?.href;
  if (found) return found;
  throw new ForgeFault("forge_unavailable", { publicMessage: "The forge does not report the repository's URL." });
}

/** Whether a forge's pattern matches a branch. GitLab's `*` matches slashes; Gitea's only if doubled. */
export function matchesBranch(pattern: string, branch: string, options: { starCrossesSlash: boolean }): boolean {
  const one = options.starCrossesSlash ? ".*" : "[^/]*";
  const parts = pattern.split(/(\*+)/).map((part) => {
    if (!part.startsWith("*")) return part.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
    return part.length > 1 ? ".*" : one;
  });
  return new RegExp(`^${parts.join("")}$`).test(branch);
}

/** A repository that a credential reaches, for a person who chooses one. */
export interface ListedRepository {
  /** `owner/name`, as the forge spells it. */
  path: string;
  url: string;
  defaultBranch: string | null;
}

/** One page of the repositories that a credential may push to, without archived ones. */
export interface RepositoryPage {
  repositories: readonly ListedRepository[];
  /** Asks for the next page. Null: this is the last one. */
  next: string | null;
  /** False: a GitHub App that is installed nowhere. */
  isInstalled: boolean;
}

export interface ListInput {
  fetch: Fetch;
  apiUrl: string;
  /** A token, or a GitHub App as JSON. */
  credential: string;
  /** The `next` of the page before. */
  cursor: string | null;
}

/** Every forge numbers its pages. */
export function pageNumber(cursor: string | null): number {
  const number = Number(cursor ?? 1);
  if (Number.isInteger(number) && number >= 0 && number < 10_000) return number;
  throw new ForgeFault("invalid_request", { publicMessage: "That page does not exist." });
}

/** A page as it was answered. A wrong token was never stored, so the words are about what a person typed. */
export function repositoryPage<T>(
  outcome: Awaited<ReturnType<ApiClient["ask"]>>,
  at: { page: number; size: number },
  toRepository: (item: T) => ListedRepository | null,
): RepositoryPage {
  if (outcome.kind !== "ok") {
    throw new ForgeFault("forge_rejected", { publicMessage: "This token is wrong, has expired or was revoked." });
  }
  const items = outcome.value as T[];
  const count = (at.page - 1) * at.size + items.length;
  const isMore = items.length > 0 && hasMore(outcome.headers, count, items.length, at.size);
  const repositories = items.map(toRepository).filter((one) => one !== null);
  return { repositories, next: isMore ? String(at.page + 1) : null, isInstalled: true };
}
