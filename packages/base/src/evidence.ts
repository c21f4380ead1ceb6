/** The lines of a source, and the sentence of a page that they support. */
export interface CitedEvidence {
  /** As `path:line`. */
  at: string;
  /** Words of the page. Empty: not known. */
  supports: string;
  text: string;
}

/** What the statements of a change can rest on. */
export interface Evidence {
  asked: readonly string[];
  /**
   * In order: what the agent read, and what it wrote. Its own words are no witness. `from`: where it read that. Null: nobody
   * knows (a runner).
   */
  log: readonly { kind: "read" | "wrote"; text: string; from?: string }[] | null;
  sources: readonly CitedEvidence[];
}
