import { isLoopback } from "@emend/base/network.ts";
import { ForgeFault } from "../faults.ts";
import type { ForgeProject } from "../forge.ts";

/** A repository of Azure DevOps: in an organization of the service, or in a collection of Azure DevOps Server. */
interface AzureDevopsAddress {
  /** The repository's page, which is git's URL too. */
  url: string;
  /** The organization's or collection's URL. */
  apiUrl: string;
  /** The service keeps identities on a host of its own. */
  identityUrl: string;
  /** `/<project>/_apis/git/repositories/<repository>`. */
  path: string;
  /** The path of the organization or collection, and the project's name, as paths have them. */
  owner: string;
  project: string;
}

const service = "dev.azure.com";
/** `git@ssh.dev.azure.com:v3/acme/Docs/handbook` and `acme@vs-ssh.visualstudio.com:v3/acme/Docs/handbook`. */
const scpForm = /^(?:[\w.-]+@)?(?:ssh\.dev\.azure\.com|vs-ssh\.visualstudio\.com):v3\/(.+)$/i;
const olderHost = /^([\w-]+)\.visualstudio\.com$/i;

/**
 * Accepts `https://dev.azure.com/<organization>/<project>/_git/<repository>`, its older form
 * `https://<organization>.visualstudio.com/…`, git's notation for SSH, and the address of a server's collection. A
 * repository that has its project's name may leave the project out.
 */
export function locateAzureDevops(given: Pick<ForgeProject, "repositoryUrl" | "settings">): AzureDevopsAddress {
  const { apiUrl: givenApi } = given.settings;
  const url = toUrl(given.repositoryUrl.trim());
  if (url.search || url.hash) throw refused("it must not contain a query or a fragment");
  const isService = url.hostname === service || olderHost.test(url.hostname);
  // The service's own clone URL names the organization as a user, without a password.
  if (url.password || (url.username && !isService)) {
    throw refused("it contains a credential. Remove it and pass the token separately");
  }
  if (url.protocol === "http:" && !givenApi?.startsWith("http:") && !isLoopback(url.hostname)) {
    throw refused("http would send the token unencrypted. Use https, or set an http API URL on purpose");
  }
  const names = namesIn(url.pathname.replace(/\/+$/, "").replace(/\.git$/i, ""));
  const at = names.findIndex((name) => name.toLowerCase() === "_git");
  const [repository, ...others] = names.slice(at + 1);
  if (at === -1 || repository === undefined || others.length > 0) {
    throw refused("it must end with _git and the repository, as in https://dev.azure.com/acme/Docs/_git/handbook");
  }
  const { collection, projectName } = ownerOf(url, names.slice(0, at), repository);
  const owner = collection.map(encoded).join("/");
  const collectionUrl = `${isService ? `https://${service}` : url.origin}/${owner}`;
  const apiUrl = (givenApi ?? collectionUrl).replace(/\/+$/, "").replace(/\/_apis$/, "");
  if (!URL.canParse(apiUrl)) {
    throw new ForgeFault("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  }
  const project = encoded(projectName);
  return {
    url: `${collectionUrl}/${project}/_git/${encoded(repository)}`,
    apiUrl,
    identityUrl: apiUrl.startsWith(`https://${service}/`) ? apiUrl.replace(service, `vssps.${service}`) : apiUrl,
    path: `/${project}/_apis/git/repositories/${encoded(repository)}`,
    owner,
    project,
  };
}

/** The organization or collection, and the project: the last name before `_git`, unless it is left out. */
function ownerOf(url: URL, before: readonly string[], repository: string) {
  const organization = olderHost.exec(url.hostname)?.[1];
  const owners = organization ? [organization, ...before.filter((name) => !/^DefaultCollection$/i.test(name))] : before;
  const isWithoutProject = owners.length === 1;
  const projectName = isWithoutProject ? repository : owners.at(-1);
  const collection = isWithoutProject ? owners : owners.slice(0, -1);
  const isTooDeep = (organization !== undefined || url.hostname === service) && collection.length > 1;
  if (projectName === undefined || collection.length === 0 || isTooDeep) {
    throw refused("it must name an organization or collection, a project and a repository");
  }
  return { collection, projectName };
}

function toUrl(text: string): URL {
  const scp = scpForm.exec(text)?.[1]?.split("/");
  const plain = scp ? `https://${service}/${[...scp.slice(0, 2), "_git", ...scp.slice(2)].join("/")}` : text;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(plain) ? plain : `https://${plain}`);
  if (url && ["https:", "http:"].includes(url.protocol)) return url;
  throw refused("use a full URL, such as https://dev.azure.com/acme/Docs/_git/handbook");
}

/** Names may contain blanks and letters of every script. */
function namesIn(pathname: string): readonly string[] {
  const names = pathname.split("/").filter((name) => name !== "");
  return names.map((name) => {
    const plain = decoded(name);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what no name has
    if (plain !== null && !/[\u0000-\u001f\u007f/\\]/.test(plain) && !/^\.+$/.test(plain)) return plain;
    throw refused("its path contains invalid characters");
  });
}

function decoded(name: string): string | null {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

/** A name in a URL, also in one that Markdown links to. */
export function encoded(name: string): string {
  return encodeURIComponent(name).replace(/[()!*']/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function refused(why: string): ForgeFault {
  return new ForgeFault("invalid_request", { publicMessage: `Emend can't use this repository URL: ${why}.` });
}
