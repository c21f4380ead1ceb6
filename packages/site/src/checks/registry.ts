import { brokenAnchor } from "./broken-anchor.ts";
import { brokenLink } from "./broken-link.ts";
import { brokenNavigation } from "./broken-navigation.ts";
import { brokenRedirect } from "./broken-redirect.ts";
import type { LinkCheck, SiteCheck } from "./check.ts";
import { duplicateRoute } from "./duplicate-route.ts";
import { duplicateTitle } from "./duplicate-title.ts";
import { missingFile } from "./missing-file.ts";
import { orphanPage } from "./orphan-page.ts";
import { unusedPicture } from "./unused-picture.ts";

export const linkChecks: readonly LinkCheck[] = [brokenLink, brokenAnchor, missingFile];

export const siteChecks: readonly SiteCheck[] = [brokenNavigation, orphanPage, duplicateRoute, brokenRedirect];

/** Off unless a project's settings name them. */
export const optionalChecks: readonly SiteCheck[] = [duplicateTitle, unusedPicture];
