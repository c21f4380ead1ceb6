/** Something in a change that Emend does not know on this site. A person decides whether it may be published. */
export interface Construct {
  path: string;
  /** The first changed line that it is on, from 1. */
  line: number;
  /** Its source text, at most 500 characters. */
  text: string;
  kind: ConstructKind;
  /** One plain sentence for the person who decides. */
  reason: string;
  /**
   * What "allow here from now on" remembers: `element iframe[height,src,width]`, `shortcode youtube`, `role kbd`,
   * `directive tabs`, `domain youtube.com`. Null: it cannot be remembered.
   */
  key: string | null;
}

export type ConstructKind =
  | "element"
  | "component"
  | "shortcode"
  | "directive"
  | "role"
  | "attribute"
  | "expression"
  | "code block"
  | "template"
  | "domain"
  | "form"
  | "invisible characters"
  | "other";
