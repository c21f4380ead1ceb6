/** What a builder did with the table of forms, written by `npm run oracles`. */
export interface Truth {
  builder: string;
  versions: Readonly<Record<string, string>>;
  date: string;
  /** The address of each page by its path. Empty where the builder makes no pages. */
  routes: Readonly<Record<string, string>>;
  /** The page of a link, its target, what becomes of it, and where it leads if that is known. */
  links: readonly (readonly [from: string, target: string, verdict: string, to?: string])[];
  /** A heading as written and its id. */
  headings: readonly (readonly [source: string, id: string | null])[];
  /** The ids of the pages with one block each. */
  blocks: Readonly<Record<string, readonly string[]>>;
}
