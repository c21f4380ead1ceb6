import type { Evidence } from "@emend/base/evidence.ts";
import type { Finding, IgnoreEntry, ParseCache } from "@emend/site";
import type { Overlay, OverlayEntry, Tree } from "@emend/tree";
import type { Construct } from "./construct.ts";
import type { PageReader } from "./page-reader.ts";

export interface Policy {
  /** Only paths in this folder may change, plus a site's configuration above it. Empty: the whole repository. */
  docsDir: string;
  /** Glob patterns of files that may change in any way, code included. */
  allowedPaths: readonly string[];
  /** Allowed new external domains: hosts, `*.acme.dev`, or `*` for any. */
  externalHosts?: readonly string[];
  /** Keys of constructs that a person allowed on this site from now on. */
  allowedConstructs?: readonly string[];
  filesMax: number;
  bytesMax: number;
}

export interface Violation {
  path: string;
  rule: string;
  /** The change contains a credential, so nothing of it may be stored where people can read it. */
  isSecret?: true;
}

export type Verdict =
  | {
      /** passed: no error among the new findings; flagged: a draft pull request that lists them. */
      kind: "passed" | "flagged";
      introduced: readonly Finding[];
      /** What may be untrue, for a reader to decide. Absent: no model wrote the change. */
      candidates?: readonly Finding[];
      fixed: readonly Finding[];
      /** What Emend does not know on this site. A person decides before anything is published. Empty: nobody is asked. */
      constructs: readonly Construct[];
      findingsBefore: number;
      findingsAfter: number;
      /** Links inside the site, and how many of them only the builder can judge. */
      links?: { total: number; unjudged: number };
    }
  | { kind: "denied"; violations: readonly Violation[] };

export interface ReviewInput {
  base: Tree;
  overlay: Overlay;
  policy: Policy;
  /** Findings of the site checks that the project's settings silence. */
  ignore?: readonly IgnoreEntry[] | undefined;
  /**
   * The whole pull request, if this change is only its last part. Policy judges the part that this job made; the site
   * checks judge the whole.
   */
  whole?: {
    base: Tree;
    head: Tree;
    entries: readonly OverlayEntry[];
    /** Files that people changed on the branch. Absent: any of them may be. */
    byPeople?: readonly string[];
  };
  /** Secrets of the installation and of the project. A change must not contain them in any usual encoding. */
  knownSecrets?: readonly string[];
  /** What people asked for. Hosts that they name are allowed. */
  asked?: readonly string[];
  /** Text that the agent read from context repositories. No new address may carry it. */
  contextText?: readonly string[];
  /** Absent: the change's words are a person's own, or the rules'. */
  evidence?: Evidence;
  /** The pull request's texts, scanned for secrets and invisible characters like the files. */
  title?: string;
  pullTitle?: string;
  summary?: string;
  /** Shared by the jobs of a process, so that only changed pages are parsed again. */
  siteCache?: ParseCache;
  pageReader?: PageReader;
}

/** The checks of what a change says, as opposed to what it does to the site. */
export const truthChecks: ReadonlySet<string> = new Set([
  "unsupported-fact",
  "lost-content",
  "untrue-summary",
  "second-reader",
]);
