import type { LinkCheck, OptionalCheck, SiteCheck } from "./check.ts";
import { brokenAnchor, brokenLink, brokenNavigation, brokenRedirect, hostLink, missingFile } from "./links.ts";
import {
  duplicateRoute,
  duplicateTitle,
  orphanPage,
  staleScreenshot,
  staleTranslation,
  unusedPicture,
} from "./pages.ts";
import { proseRules, spelling } from "./prose.ts";

export const linkChecks: readonly LinkCheck[] = [brokenLink, brokenAnchor, missingFile];

export const siteChecks: readonly SiteCheck[] = [brokenNavigation, orphanPage, duplicateRoute, brokenRedirect];

/** Off unless a project's settings enable them. */
export const optionalChecks: readonly OptionalCheck[] = [
  duplicateTitle,
  hostLink,
  proseRules,
  spelling,
  staleScreenshot,
  staleTranslation,
  unusedPicture,
];
