import type { Comparison, Finding, Page, PageSearch, Refactoring, SiteTree } from "./types.ts";

export type {
  Comparison,
  Edits,
  Finding,
  Fix,
  Page,
  PageSearch,
  Refactoring,
  Severity,
  SiteFile,
  SiteTree,
  Skipped,
  TextEdit,
} from "./types.ts";

/** A docs site as a graph, at one state of its tree. */
export interface Site {
  framework: string;
  pages: readonly Page[];
}

/** Remembers parse results by content hash: hand the same one to every `openSite` and only changed files are parsed. */
export interface ParseCache {
  get(key: string): string | undefined;
  set(key: string, facts: string): void;
}

export interface OpenOptions {
  docsDir?: string;
  cache?: ParseCache;
  signal?: AbortSignal;
}

export async function openSite(_tree: SiteTree, _options?: OpenOptions): Promise<Site> {
  return { framework: "markdown", pages: [] };
}

export async function checkSite(_site: Site): Promise<readonly Finding[]> {
  return [];
}

export async function compareSites(_base: Site, _head: Site): Promise<Comparison> {
  return { introduced: [], fixed: [], before: 0, after: 0 };
}

/** Accepts a path, a route (with or without extension, docs dir or leading slash) or an exact title. */
export function findPage(_site: Site, _words: string): PageSearch {
  return { kind: "none", nearest: [] };
}

const notYet = { kind: "refused", reason: "not available yet" } as const;

export async function movePage(_site: Site, _input: { from: string; to: string }): Promise<Refactoring> {
  return notYet;
}

export async function renameHeading(
  _site: Site,
  _input: { page: string; from: string; to: string },
): Promise<Refactoring> {
  return notYet;
}

export interface ReplaceTerm {
  from: string;
  to: string;
  pages?: readonly string[];
  wordForms?: boolean;
  includeCode?: boolean;
  includeLinks?: boolean;
  includeFrontMatterKeys?: boolean;
}

export async function replaceTerm(_site: Site, _input: ReplaceTerm): Promise<Refactoring> {
  return notYet;
}

export async function fixLinks(_site: Site): Promise<Refactoring> {
  return notYet;
}

export interface AddPage {
  path: string;
  title?: string;
  content: string;
  group?: string;
}

export async function addPage(_site: Site, _input: AddPage): Promise<Refactoring> {
  return notYet;
}

export interface AddToNavigation {
  page: string;
  group?: string;
  before?: string;
  after?: string;
}

export async function addToNavigation(_site: Site, _input: AddToNavigation): Promise<Refactoring> {
  return notYet;
}

export async function orderNavigation(
  _site: Site,
  _input: { group?: string; pages: readonly string[] },
): Promise<Refactoring> {
  return notYet;
}

export async function addRedirect(_site: Site, _input: { from: string; to: string }): Promise<Refactoring> {
  return notYet;
}

export interface SetFrontMatter {
  page: string;
  field: string;
  value: string | number | boolean;
}

export async function setFrontMatter(_site: Site, _input: SetFrontMatter): Promise<Refactoring> {
  return notYet;
}
