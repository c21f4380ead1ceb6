export { type DiskCache, openDiskCache } from "./cache/disk-cache.ts";
export { createParseCache, type ParseCache } from "./cache/parse-cache.ts";
export { checkMdx } from "./check-mdx.ts";
export { applySettings, externalLinkCheck, readCheckSettings, settingsSchema } from "./check-settings.ts";
export { checkSite, tallyLinks } from "./check-site.ts";
export { compareSites, diffFindings } from "./compare-sites.ts";
export {
  createLinkWriter,
  findReferences,
  idsOnPage,
  type Mention,
  type Outline,
  outlineOf,
  type Reference,
  resolveFrom,
  whyUnknown,
} from "./editor-queries.ts";
export { type ExternalLink, externalLinks } from "./external-links.ts";
export { findPage } from "./find-page.ts";
export { folderTree } from "./folder-tree.ts";
export type { NavItem, NavList, Redirect } from "./frameworks/framework.ts";
export { type FileChange, historyArgs, parseHistory } from "./git-history.ts";
export { type GitSource, gitEnvironment, openGitSource, parseBlobs, runGit } from "./git-source.ts";
export { type LiveFolder, openLiveFolder } from "./live/live-folder.ts";
export { type LiveSite, openLiveSite } from "./live/live-site.ts";
export { watchFolder } from "./live/watch-folder.ts";
export { type OpenOptions, openSite } from "./open-site.ts";
export { type Outside, outsideOf } from "./outside.ts";
export { type AddPage, addPage } from "./refactor/add-page.ts";
export { addRedirect } from "./refactor/add-redirect.ts";
export { type AddToNavigation, addToNavigation } from "./refactor/add-to-navigation.ts";
export { fixLinks } from "./refactor/fix-links.ts";
export { movePage } from "./refactor/move-page.ts";
export { type MoveSection, moveSection } from "./refactor/move-section.ts";
export { orderNavigation } from "./refactor/order-navigation.ts";
export { removeFromNavigation } from "./refactor/remove-from-navigation.ts";
export { type RemovePage, removePage } from "./refactor/remove-page.ts";
export { renameGroup } from "./refactor/rename-group.ts";
export { type RenameHeading, renameHeading } from "./refactor/rename-heading.ts";
export { type ReplaceTerm, replaceTerm } from "./refactor/replace-term.ts";
export { type SetFrontMatter, setFrontMatter } from "./refactor/set-front-matter.ts";
export { checkReferences, type Source, staleFinding, staleReferenceCheck } from "./references/check-references.ts";
export { checkTruth, truthChecks } from "./references/check-truth.ts";
export {
  type CompareOptions,
  compareReferences,
  type StaleCause,
  type StaleReference,
} from "./references/compare-references.ts";
export { type CodeReference, findCodeReferences, type ReferenceKind } from "./references/find-references.ts";
export { readSiteReferences, type SiteReferences } from "./references/site-references.ts";
export { type IndexOptions, indexSource, type SkipReason, type SourceIndex } from "./references/source-index.ts";
export { silenceFindings } from "./silence.ts";
export type { Site } from "./site.ts";
export type {
  Certainty,
  Comparison,
  Edits,
  Finding,
  Fix,
  LinkTally,
  Page,
  PageSearch,
  Refactoring,
  Severity,
  SiteFile,
  SiteTree,
  Skipped,
  TextEdit,
} from "./types.ts";
