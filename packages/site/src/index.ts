export { createParseCache, type DiskCache, openDiskCache, type ParseCache } from "./cache/disk-cache.ts";
export {
  applySettings,
  claimChecks,
  externalLinkCheck,
  ignoreProblem,
  readCheckSettings,
  settingsSchema,
} from "./check-settings.ts";
export { byPlace, checkSite, tallyLinks } from "./check-site.ts";
export type { CheckSettings } from "./checks/check.ts";
export { pagesOfPictures } from "./checks/pages.ts";
export { compareSites, diffFindings, knownSilencers } from "./compare-sites.ts";
export { type PageBlock, pageBlocks } from "./drift/page-blocks.ts";
export { type ChangedLines, rankBlocks } from "./drift/rank-blocks.ts";
export { isAboutPast, siteBlocks } from "./drift/site-blocks.ts";
export {
  createLinkWriter,
  type ExternalLink,
  externalLinks,
  findReferences,
  idsOnPage,
  type Mention,
  type Outline,
  type Outside,
  outlineOf,
  outsideOf,
  type Reference,
  resolveFrom,
  whyUnknown,
} from "./editor-queries.ts";
export { changedFacts } from "./facts/changed-facts.ts";
export { factFinding } from "./facts/check-facts.ts";
export { type ChangedFacts, compareFacts, type StaleFact } from "./facts/compare-facts.ts";
export { grammarNames, readFacts } from "./facts/read-facts.ts";
export { findPage } from "./find-page.ts";
export { folderTree, nameAsGit, repositoryAround } from "./folder-tree.ts";
export type { NavItem, NavList, Redirect } from "./frameworks/framework.ts";
export { type FileChange, historyArgs, parseHistory } from "./git-history.ts";
export { type GitSource, gitEnvironment, openGitSource, runGit } from "./git-source.ts";
export { unseen } from "./links/doubts.ts";
export { type LiveFolder, type LiveSite, openLiveFolder, openLiveSite } from "./live/live-folder.ts";
export { watchFolder } from "./live/watch-folder.ts";
export { type OpenOptions, openSite } from "./open-site.ts";
export { checkMdx } from "./parse/check-mdx.ts";
export { compileCacheEnv, createThreadPool, type ThreadPool, threadLimits, watchTime } from "./parse/threads.ts";
export { type AddPage, addPage } from "./refactor/add-page.ts";
export { type RenameHeading, renameHeading } from "./refactor/anchors.ts";
export {
  type AddToNavigation,
  addToNavigation,
  orderNavigation,
  removeFromNavigation,
  renameGroup,
} from "./refactor/edit-navigation.ts";
export { fixLinks } from "./refactor/fix-links.ts";
export { movePage } from "./refactor/move-page.ts";
export { type MoveSection, moveSection } from "./refactor/move-section.ts";
export { addRedirect } from "./refactor/redirects.ts";
export { type RemovePage, removePage } from "./refactor/remove-page.ts";
export { type ReplaceTerm, replaceTerm } from "./refactor/replace-term.ts";
export { type SetFrontMatter, setFrontMatter } from "./refactor/set-front-matter.ts";
export { checkReferences, type Source, staleFinding, staleReferenceCheck } from "./references/check-references.ts";
export { checkSamples, checkTruth, truthChecks } from "./references/check-truth.ts";
export {
  type CompareOptions,
  compareReferences,
  type StaleCause,
  type StaleReference,
} from "./references/compare-references.ts";
export { isDefinedIn } from "./references/defined-in.ts";
export { findEarlierVersions } from "./references/earlier-versions.ts";
export { type CodeReference, findCodeReferences, type ReferenceKind } from "./references/find-references.ts";
export { type PageSample, readSamples } from "./references/read-samples.ts";
export { isSourcePath } from "./references/read-source-file.ts";
export { readSiteReferences, type SiteReferences } from "./references/site-references.ts";
export { type IndexOptions, indexSource, type SourceIndex } from "./references/source-index.ts";
export { readScreenshots, type Screenshot, type Screenshots, screenshotsFile } from "./screenshots.ts";
export { confirmFixes } from "./second-resolver/read-states.ts";
export { silenceFindings } from "./silence.ts";
export type { Site } from "./site.ts";
export { matchesGlob } from "./text/matches-glob.ts";
export type {
  Certainty,
  Comparison,
  Edits,
  Finding,
  Fix,
  IgnoreEntry,
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
