import { azureDevopsVendor } from "./azure-devops.ts";
import { bitbucketVendor } from "./bitbucket.ts";
import type { Vendor } from "./far-end.ts";
import { forgejoVendor, giteaVendor, olderGiteaVendor } from "./gitea.ts";
import { githubVendor } from "./github.ts";
import { gitlabVendor } from "./gitlab.ts";

/** Every forge on an external server. */
export const vendors: readonly Vendor[] = [githubVendor, gitlabVendor, giteaVendor, bitbucketVendor, azureDevopsVendor];

/** The same, with compatible forges and older releases. */
export const everyVendor: readonly (Vendor & { label: string })[] = [
  ...vendors.map((vendor) => ({ ...vendor, label: vendor.name })),
  { ...forgejoVendor, label: "forgejo" },
  { ...olderGiteaVendor, label: "an older gitea" },
];

/** The request that opens a pull request. */
export const createOperation = {
  github: "POST /repos/{owner}/{repo}/pulls",
  gitlab: "POST /projects/{id}/merge_requests",
  gitea: "POST /repos/{owner}/{repo}/pulls",
  bitbucket: "POST /repositories/{workspace}/{repo_slug}/pullrequests",
  "azure-devops": "POST /{project}/_apis/git/repositories/{repositoryId}/pullrequests",
} as const;
