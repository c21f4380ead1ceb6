import { assertNever } from "../../lib/assert-never.ts";
import type { Instruction } from "./instruction.ts";

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
      return `fix broken links${instruction.under === undefined ? "" : ` in ${instruction.under}`}`;
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
