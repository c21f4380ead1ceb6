import type { Finding } from "@emend/site";

/** The review's verdict as `record-change.ts` stored it. */
export interface StoredVerdict {
  kind?: string;
  findingsBefore?: number;
  findingsAfter?: number;
  /** `dispute`: why the agent considers the finding wrong. */
  introduced?: readonly (Finding & { dispute?: string })[];
  fixed?: readonly Finding[];
  links?: { total: number; unjudged: number };
  violations?: readonly { path: string; rule: string }[];
}

/** A denied change was not checked, so it has no findings. */
export function toFindings(verdict: StoredVerdict | null): {
  before: number;
  after: number;
  introduced: (Finding & { dispute?: string })[];
  fixed: Finding[];
  links?: { total: number; unjudged: number };
} | null {
  if (!verdict || verdict.findingsBefore === undefined || verdict.findingsAfter === undefined) return null;
  const { findingsBefore: before, findingsAfter: after, introduced = [], fixed = [], links } = verdict;
  return { before, after, introduced: [...introduced], fixed: [...fixed], ...(links && { links }) };
}
