/** What one clause asks for, in the words it used; the tools find out what those mean on the site. */
export type Instruction =
  | { kind: "replace_term"; from: string; to: string; under?: string; includeCode: boolean }
  /** `rename X to Y`, with nothing that says what X is: a term, unless a page has that name too. */
  | { kind: "rename"; from: string; to: string }
  /** `into`: the folder in which it keeps its own name, where `from` may be a title. */
  | { kind: "move_page"; from: string; to: string; into?: string }
  /** In favour of another page: links and the old address lead there. */
  | { kind: "remove_page"; page: string; to: string }
  | { kind: "fix_links"; under?: string }
  | { kind: "add_page"; path: string; title?: string; content: string; group?: string }
  /** `move`: its entry goes there, wherever it is now. */
  | { kind: "list_page"; page: string; group?: string; before?: string; after?: string; move?: true }
  | { kind: "unlist_page"; page: string }
  | { kind: "rename_group"; from: string; to: string }
  | { kind: "order_navigation"; group?: string; pages: readonly string[] }
  | { kind: "set_front_matter"; page: string; field: string; value: string | number | boolean | null }
  | { kind: "add_redirect"; from: string; to: string }
  | { kind: "rename_heading"; page: string; from: string; to: string };
