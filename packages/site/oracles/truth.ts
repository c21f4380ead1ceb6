/** A builder's results for the table of forms, written by `npm run oracles`. */
export interface Truth {
  builder: string;
  versions: Readonly<Record<string, string>>;
  date: string;
  /** The URL of each page by its path. Empty if the builder writes no pages. */
  routes: Readonly<Record<string, string>>;
  /** The page of a link, its target, the verdict, and the link's destination if known. */
  links: readonly (readonly [from: string, target: string, verdict: string, to?: string])[];
  /** A heading's source and its id. */
  headings: readonly (readonly [source: string, id: string | null])[];
  /** The ids of the pages with one block each. */
  blocks: Readonly<Record<string, readonly string[]>>;
}
