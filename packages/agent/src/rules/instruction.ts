import { assertNever } from "@emend/base/fault.ts";

/** What one clause asks for, in its own words. The tools resolve them on the site. */
export type Instruction =
  | { kind: "replace_term"; from: string; to: string; under?: string; includeCode: boolean }
  /** `rename X to Y` without saying what X is: a term, unless a page has that name too. */
  | { kind: "rename"; from: string; to: string }
  /** `into`: the target folder. The page keeps its file name; `from` may be a title. */
  | { kind: "move_page"; from: string; to: string; into?: string }
  /** Replaced by another page: links and a redirect point there. */
  | { kind: "remove_page"; page: string; to: string }
  | { kind: "fix_links"; under?: string; only?: "anchors" }
  /** Those that the repository says how to make. */
  | { kind: "renew_screenshots" }
  | { kind: "add_page"; path: string; title?: string; content: string; group?: string }
  /** `move`: its entry moves there from wherever it is now. */
  | { kind: "list_page"; page: string; group?: string; before?: string; after?: string; move?: true }
  | { kind: "unlist_page"; page: string }
  | { kind: "rename_group"; from: string; to: string }
  | { kind: "order_navigation"; group?: string; pages: readonly string[] }
  | { kind: "set_front_matter"; page: string; field: string; value: string | number | boolean | null }
  | { kind: "add_redirect"; from: string; to: string }
  | { kind: "rename_heading"; page: string; from: string; to: string }
  /** With everything below its heading, to the end of another page. */
  | { kind: "move_section"; page: string; heading: string; to: string };

/** The instruction in its canonical form. */
export function describeInstruction(instruction: Instruction): string {
  switch (instruction.kind) {
    case "replace_term": {
      const where = instruction.under === undefined ? "" : ` in ${instruction.under}`;
      const code = instruction.includeCode ? ", also in code" : "";
      return `replace ${quote(instruction.from)} with ${quote(instruction.to)}${where}${code}`;
    }
    case "rename":
      return `rename ${quote(instruction.from)} to ${quote(instruction.to)}`;
    case "move_page":
      if (instruction.into !== undefined) return `move ${quote(instruction.from)} into ${instruction.into}`;
      return `move ${instruction.from} to ${instruction.to}`;
    case "remove_page":
      return `delete ${instruction.page} and redirect it to ${instruction.to}`;
    case "fix_links":
      return `fix broken ${instruction.only ?? "links"}${instruction.under === undefined ? "" : ` in ${instruction.under}`}`;
    case "renew_screenshots":
      return "renew screenshots";
    case "add_page":
      return `add the page ${instruction.path}`;
    case "list_page":
      return `${instruction.move ? "put" : "list"} ${instruction.page} ${placeOf(instruction)}`;
    case "unlist_page":
      return `remove ${instruction.page} from the navigation`;
    case "rename_group":
      return `rename the navigation group ${quote(instruction.from)} to ${quote(instruction.to)}`;
    case "order_navigation":
      return `order the navigation${instruction.group === undefined ? "" : ` of ${quote(instruction.group)}`}`;
    case "set_front_matter":
      return instruction.value === null
        ? `remove ${instruction.field} from ${instruction.page}`
        : `set ${instruction.field} of ${instruction.page}`;
    case "add_redirect":
      return `redirect ${instruction.from} to ${instruction.to}`;
    case "rename_heading":
      return `rename the heading ${quote(instruction.from)} in ${instruction.page} to ${quote(instruction.to)}`;
    case "move_section":
      return `move the section ${quote(instruction.heading)} of ${instruction.page} to ${instruction.to}`;
    default:
      return assertNever(instruction);
  }
}

function placeOf({ group, before, after }: Extract<Instruction, { kind: "list_page" }>): string {
  const neighbour = before === undefined ? (after === undefined ? "" : `after ${after} `) : `before ${before} `;
  return `${neighbour}in the navigation${group === undefined ? "" : ` under ${quote(group)}`}`;
}

function quote(text: string): string {
  return `"${text}"`;
}
