import { AppError } from "../errors.ts";

/** A repository's URL, in any notation. */
export interface RepositoryAddress {
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

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

function refused(why: string): AppError {
  return new AppError("invalid_request", { publicMessage: `Emend can't use this repository URL: ${why}.` });
}

/** A repository on a forge with one owner per repository, `<owner>/<name>`, below the API's folder if there is one. */
export function ownedRepository(
  address: RepositoryAddress,
  folder: readonly string[],
): { owner: string; name: string; path: string } {
  const [owner, name, ...others] = below(address, folder);
  if (owner === undefined || name === undefined || others.length > 0) {
    throw refused("it must end with the owner and the repository, and nothing after them");
  }
  return { owner, name, path: `${owner}/${name}` };
}

/** The path after the folder that the forge is served from. */
export function below(address: RepositoryAddress, folder: readonly string[]): readonly string[] {
  const isBelow = folder.every((segment, index) => address.segments[index] === segment);
  return isBelow ? address.segments.slice(folder.length) : address.segments;
}

/** The folder that a forge is served from, by its API's URL. Empty if the API is elsewhere. */
export function folderOfApi(apiUrl: URL, address: RepositoryAddress, apiPath: string): readonly string[] {
  if (apiUrl.origin !== address.origin) return [];
  const path = apiUrl.pathname.replace(/\/+$/, "");
  return path.endsWith(apiPath) ? path.slice(0, -apiPath.length).split("/").filter(Boolean) : [];
}
