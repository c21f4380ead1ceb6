import type { DashboardProject } from "@emend/contract";

type Forge = DashboardProject["forge"];

export const forgeNames: Readonly<Record<Forge, string>> = {
  local: "Hosted by Emend",
  github: "GitHub",
  gitlab: "GitLab",
  gitea: "Gitea",
  bitbucket: "Bitbucket Cloud",
  "azure-devops": "Azure DevOps",
};

export const forgeOptions = (Object.keys(forgeNames) as Forge[]).map((value) => ({
  value,
  words: value === "gitea" ? "Gitea or Forgejo" : value === "local" ? "Hosted by Emend" : forgeNames[value],
}));

/** Forges that list the repositories of a token, and the server that most people use. */
export const defaultHosts: Readonly<Partial<Record<Forge, string>>> = {
  github: "https://github.com",
  gitlab: "https://gitlab.com",
  gitea: "",
};

/**
 * The page that creates a GitHub token. github.com and GitHub Enterprise Cloud fill in the form from the URL; an
 * Enterprise Server does not (github/docs, managing-your-personal-access-tokens.md at 60321755, 2026-08-07).
 */
export function githubTokenPage(address: string): string {
  const url = URL.parse(address);
  const origin = url?.protocol.startsWith("http") ? url.origin : "https://github.com";
  const page = `${origin}/settings/personal-access-tokens/new`;
  if (!/(^|\.)(github|ghe)\.com$/.test(new URL(origin).hostname)) return page;
  const owner = url?.pathname.split("/").find((part) => part !== "");
  const fields = new URLSearchParams({
    name: "Emend",
    description: "Emend reads the docs, pushes branches and opens pull requests.",
    ...(owner && { target_name: owner }),
    expires_in: "90",
    contents: "write",
    pull_requests: "write",
    statuses: "write",
  });
  return `${page}?${fields}`;
}

/** The texts of the form, and how to get a token. */
export const forgeWords: Readonly<Record<Exclude<Forge, "local">, { address: string; token: string }>> = {
  github: {
    address: "https://github.com/owner/repository",
    token:
      "A fine-grained token with read and write access to Contents, Pull requests and Commit statuses of this repository, or a GitHub App as JSON.",
  },
  gitlab: {
    address: "https://gitlab.com/group/project",
    token: "A project access token with the role Developer and the scopes api and write_repository.",
  },
  gitea: {
    address: "https://git.example.com/owner/repository",
    token: "An access token with read and write access to repositories, and to issues.",
  },
  bitbucket: {
    address: "https://bitbucket.org/workspace/repository",
    token:
      "A repository access token with the scopes repository:write and pullrequest:write; or, so that comments are acted on, an administrator's API token as email:token.",
  },
  "azure-devops": {
    address: "https://dev.azure.com/organization/project/_git/repository",
    token:
      "A personal access token of the organization with the scopes Code: read and write, and Code: status. So that comments are acted on: also Identity: read, and Security: manage.",
  },
};
