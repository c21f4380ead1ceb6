import type { DashboardProject } from "@emend/contract";

type Forge = DashboardProject["forge"];

export const forgeNames: Readonly<Record<Forge, string>> = {
  local: "Hosted by Emend",
  github: "GitHub",
  gitlab: "GitLab",
  gitea: "Gitea",
  bitbucket: "Bitbucket Cloud",
};

export const forgeOptions = (Object.keys(forgeNames) as Forge[]).map((value) => ({
  value,
  words: value === "gitea" ? "Gitea or Forgejo" : value === "local" ? "Hosted by Emend" : forgeNames[value],
}));

/** The texts of the form, and how to get a token. */
export const forgeWords: Readonly<Record<Exclude<Forge, "local">, { address: string; token: string }>> = {
  github: {
    address: "https://github.com/owner/repository",
    token:
      "A fine-grained token with read and write access to Contents and Pull requests of this repository, or a GitHub App as JSON.",
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
};
