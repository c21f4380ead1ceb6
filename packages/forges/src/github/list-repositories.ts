import { type Static, Type } from "typebox";
import { PageUrl } from "../api-client.ts";
import {
  type ListedRepository,
  type ListInput,
  pageNumber,
  type RepositoryPage,
  repositoryPage,
} from "../repository-address.ts";
import { type AppIdentity, createGithubClient, openAppApi, parseAppCredential } from "./github-token.ts";

const Repository = Type.Object({
  full_name: Type.String(),
  html_url: PageUrl,
  default_branch: Type.Optional(Type.String()),
  archived: Type.Optional(Type.Boolean()),
  permissions: Type.Optional(Type.Object({ push: Type.Boolean() })),
});

const size = 100;

function shown({ full_name, html_url, default_branch }: Static<typeof Repository>): ListedRepository {
  return { path: full_name, url: html_url, defaultBranch: default_branch ?? null };
}

/** The repositories of a token's owner, or those that an App is installed on. */
export async function listGithubRepositories(input: ListInput, signal: AbortSignal): Promise<RepositoryPage> {
  const app = parseAppCredential(input.credential);
  if (app) return listAppRepositories(input, app, signal);
  const api = createGithubClient({ ...input, authorization: async () => `Bearer ${input.credential}` });
  const page = pageNumber(input.cursor);
  const query = { sort: "pushed", direction: "desc", per_page: size, page };
  const outcome = await api.ask(
    { method: "GET", path: "/user/repos", query, answer: Type.Array(Repository), what: "list repositories" },
    [401],
    signal,
  );
  return repositoryPage(outcome, { page, size }, (one: Static<typeof Repository>) =>
    one.archived || one.permissions?.push === false ? null : shown(one),
  );
}

const Installations = Type.Array(Type.Object({ id: Type.Integer() }));
const Installed = Type.Object({ total_count: Type.Integer(), repositories: Type.Array(Repository) });

/** Of all accounts that installed the App. The cursor names the installation and the page. */
async function listAppRepositories(input: ListInput, app: AppIdentity, signal: AbortSignal): Promise<RepositoryPage> {
  const asApp = openAppApi(input, app);
  const query = { per_page: size };
  const installations = await asApp.call(
    { method: "GET", path: "/app/installations", query, answer: Installations, what: "find its App's installations" },
    signal,
  );
  const [at = 0, page = 1] = (input.cursor ?? "0.1").split(".").map(pageNumber);
  const installation = installations[at];
  if (!installation) return { repositories: [], next: null, isInstalled: installations.length > 0 };
  const { token } = await asApp.call(
    {
      method: "POST",
      path: `/app/installations/${installation.id}/access_tokens`,
      body: { permissions: { metadata: "read" } },
      answer: Type.Object({ token: Type.String() }),
      what: "use its App",
    },
    signal,
  );
  const api = createGithubClient({ ...input, authorization: async () => `Bearer ${token}` });
  const found = await api.call(
    {
      method: "GET",
      path: "/installation/repositories",
      query: { ...query, page },
      answer: Installed,
      what: "list repositories",
    },
    signal,
  );
  const isLastPage = found.repositories.length === 0 || page * size >= found.total_count;
  const hasNext = !isLastPage || at + 1 < installations.length;
  return {
    // GitHub tells installation tokens that they may not push. The App's permissions are checked when it is added.
    repositories: found.repositories.filter(({ archived }) => !archived).map(shown),
    next: hasNext ? (isLastPage ? `${at + 1}.1` : `${at}.${page + 1}`) : null,
    isInstalled: true,
  };
}
