import type { Vendor } from "./far-end.ts";
import { giteaVendor } from "./gitea.ts";
import { githubVendor } from "./github.ts";
import { gitlabVendor } from "./gitlab.ts";

/** Every forge that is on another's server. */
export const vendors: readonly Vendor[] = [githubVendor, gitlabVendor, giteaVendor];
