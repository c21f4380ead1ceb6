import { brokenAnchor } from "./broken-anchor.ts";
import { brokenLink } from "./broken-link.ts";
import { brokenNavigation } from "./broken-navigation.ts";
import { brokenRedirect } from "./broken-redirect.ts";
import type { LinkCheck, SiteCheck } from "./check.ts";
import { duplicateRoute } from "./duplicate-route.ts";
import { missingFile } from "./missing-file.ts";
import { orphanPage } from "./orphan-page.ts";

export const linkChecks: readonly LinkCheck[] = [brokenLink, brokenAnchor, missingFile];

export const siteChecks: readonly SiteCheck[] = [brokenNavigation, orphanPage, duplicateRoute, brokenRedirect];
