/** What one clause asks for, in the words it used; the tools find out what those mean on the site. */
export type Instruction =
  | { kind: "replace_term"; from: string; to: string; under?: string; includeCode: boolean }
  /** `rename X to Y`, with nothing that says what X is: a term, unless a page has that name too. */
  | { kind: "rename"; from: string; to: string }
  | { kind: "move_page"; from: string; to: string }
  | { kind: "fix_links" }
  | { kind: "add_page"; path: string; title?: string; content: string; group?: string }
  | { kind: "list_page"; page: string; group?: string; before?: string; after?: string }
  | { kind: "order_navigation"; group?: string; pages: readonly string[] }
  | { kind: "set_front_matter"; page: string; field: string; value: string | number | boolean }
  | { kind: "add_redirect"; from: string; to: string }
  | { kind: "rename_heading"; page: string; from: string; to: string };
