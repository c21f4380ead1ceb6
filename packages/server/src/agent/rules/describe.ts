import { assertNever } from "../../lib/assert-never.ts";
import type { Instruction } from "./instruction.ts";

/** The instruction in its canonical form, as an order. */
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
      return `move ${instruction.from} to ${instruction.to}`;
    case "fix_links":
      return "fix broken links";
    case "add_page":
      return `add the page ${instruction.path}`;
    case "list_page":
      return `list ${instruction.page} in the navigation${instruction.group === undefined ? "" : ` under ${quote(instruction.group)}`}`;
    case "order_navigation":
      return `order the navigation${instruction.group === undefined ? "" : ` of ${quote(instruction.group)}`}`;
    case "set_front_matter":
      return `set ${instruction.field} of ${instruction.page}`;
    case "add_redirect":
      return `redirect ${instruction.from} to ${instruction.to}`;
    case "rename_heading":
      return `rename the heading ${quote(instruction.from)} in ${instruction.page} to ${quote(instruction.to)}`;
    default:
      return assertNever(instruction);
  }
}

function quote(text: string): string {
  return `"${text}"`;
}
