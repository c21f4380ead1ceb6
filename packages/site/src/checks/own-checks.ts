import { bareFence } from "./bare-fence.ts";
import { bareLinkText } from "./bare-link-text.ts";
import type { OwnCheck } from "./check.ts";
import { duplicateHeading } from "./duplicate-heading.ts";
import { frontMatter } from "./front-matter.ts";
import { headingJump } from "./heading-jump.ts";
import { imageAlt } from "./image-alt.ts";
import { unclosedFence } from "./unclosed-fence.ts";
import { unreadPage } from "./unread-page.ts";

/**
 * Apart from the others, because every parsing thread loads them: stored records say whether these find anything. Raise
 * the version of the facts where one comes or changes.
 */
export const ownChecks: readonly OwnCheck[] = [
  unreadPage,
  frontMatter,
  duplicateHeading,
  headingJump,
  bareFence,
  unclosedFence,
  imageAlt,
  bareLinkText,
];
