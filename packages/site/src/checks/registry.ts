import { bareFence } from "./bare-fence.ts";
import { bareLinkText } from "./bare-link-text.ts";
import { brokenAnchor } from "./broken-anchor.ts";
import { brokenLink } from "./broken-link.ts";
import { brokenNavigation } from "./broken-navigation.ts";
import { brokenRedirect } from "./broken-redirect.ts";
import type { PageCheck, SiteCheck } from "./check.ts";
import { duplicateHeading } from "./duplicate-heading.ts";
import { duplicateRoute } from "./duplicate-route.ts";
import { frontMatter } from "./front-matter.ts";
import { headingJump } from "./heading-jump.ts";
import { imageAlt } from "./image-alt.ts";
import { missingFile } from "./missing-file.ts";
import { orphanPage } from "./orphan-page.ts";
import { unreadPage } from "./unread-page.ts";

export const pageChecks: readonly PageCheck[] = [
  unreadPage,
  frontMatter,
  brokenLink,
  brokenAnchor,
  missingFile,
  duplicateHeading,
  headingJump,
  bareFence,
  imageAlt,
  bareLinkText,
];

export const siteChecks: readonly SiteCheck[] = [brokenNavigation, orphanPage, duplicateRoute, brokenRedirect];
