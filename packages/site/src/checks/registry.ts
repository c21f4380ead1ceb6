import type { LinkCheck, SiteCheck } from "./check.ts";
import { brokenAnchor, brokenLink, brokenNavigation, brokenRedirect, missingFile } from "./links.ts";
import { duplicateRoute, duplicateTitle, orphanPage, unusedPicture } from "./pages.ts";

export const linkChecks: readonly LinkCheck[] = [brokenLink, brokenAnchor, missingFile];

export const siteChecks: readonly SiteCheck[] = [brokenNavigation, orphanPage, duplicateRoute, brokenRedirect];

/** Off unless a project's settings name them. */
export const optionalChecks: readonly SiteCheck[] = [duplicateTitle, unusedPicture];
