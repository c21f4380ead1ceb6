/** What one clause asks for, in its own words. The tools resolve them on the site. */
export type Instruction =
  | { kind: "replace_term"; from: string; to: string; under?: string; includeCode: boolean }
  /** `rename X to Y` without saying what X is: a term, unless a page has that name too. */
  | { kind: "rename"; from: string; to: string }
  /** `into`: the target folder. The page keeps its file name; `from` may be a title. */
  | { kind: "move_page"; from: string; to: string; into?: string }
  /** Replaced by another page: links and a redirect point there. */
  | { kind: "remove_page"; page: string; to: string }
  | { kind: "fix_links"; under?: string }
  | { kind: "add_page"; path: string; title?: string; content: string; group?: string }
  /** `move`: its entry moves there from wherever it is now. */
  | { kind: "list_page"; page: string; group?: string; before?: string; after?: string; move?: true }
  | { kind: "unlist_page"; page: string }
  | { kind: "rename_group"; from: string; to: string }
  | { kind: "order_navigation"; group?: string; pages: readonly string[] }
  | { kind: "set_front_matter"; page: string; field: string; value: string | number | boolean | null }
  | { kind: "add_redirect"; from: string; to: string }
  | { kind: "rename_heading"; page: string; from: string; to: string };
