import type { Finding, ParseCache } from "@emend/site";
import type { Overlay, OverlayEntry, Tree } from "../tree/tree.ts";
import type { PageReader } from "./page-reader.ts";

export interface Policy {
  /** Only paths below this folder may change, and a site's configuration above it; empty: the whole repository. */
  docsDir: string;
  /** Glob patterns of files that may change in any way, code included. */
  allowedPaths: readonly string[];
  /** Sites that a change may be the first to point at: hosts, `*.acme.dev`, or `*` for any. */
  externalHosts?: readonly string[];
  /** Other files than documents and assets, and code in pages, make a draft with a finding; else they are refused. */
  codeAsDraft?: boolean;
  filesMax: number;
  bytesMax: number;
}

export interface Violation {
  path: string;
  rule: string;
  /** The change holds a credential: nothing of it may be kept where people read. */
  isSecret?: true;
}

export type Verdict =
  | {
      /** passed: no error among the new findings; flagged: a draft pull request that lists them. */
      kind: "passed" | "flagged";
      introduced: readonly Finding[];
      fixed: readonly Finding[];
      findingsBefore: number;
      findingsAfter: number;
      /** Links inside the site, and those of them that only its build can judge. */
      links?: { total: number; unjudged: number };
    }
  | { kind: "denied"; violations: readonly Violation[] };

export interface ReviewInput {
  base: Tree;
  overlay: Overlay;
  policy: Policy;
  /**
   * The whole pull request, where this change is but the last part of it: policy judges the part, which is all that a
   * job answers for, and the site is checked as the whole would leave it.
   */
  whole?: { base: Tree; head: Tree; entries: readonly OverlayEntry[] };
  /** Secrets of the installation and of the project, which a change may not hold in any usual encoding. */
  knownSecrets?: readonly string[];
  /** What people asked for: the sites they name may be pointed at. */
  asked?: readonly string[];
  /** What the agent read from context repositories: no new address may carry it. */
  contextText?: readonly string[];
  /** What the pull request will say; looked at for secrets and invisible characters like the files. */
  title?: string;
  pullTitle?: string;
  summary?: string;
  /** Shared by the jobs of a process: only changed pages are parsed again. */
  siteCache?: ParseCache;
  /** Shared by them as well. */
  pageReader?: PageReader;
}
