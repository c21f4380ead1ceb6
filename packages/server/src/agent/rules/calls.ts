import { assertNever } from "../../lib/assert-never.ts";
import type { Instruction } from "./instruction.ts";

export interface PlannedCall {
  name: string;
  input: Record<string, unknown>;
}

/** The one tool call that carries an instruction out. */
export function callFor(instruction: Instruction): PlannedCall {
  switch (instruction.kind) {
    case "replace_term": {
      const { from, to, under, includeCode } = instruction;
      return { name: "replace_term", input: { from, to, includeCode, ...(under === undefined ? {} : { under }) } };
    }
    case "rename":
      return { name: "replace_term", input: { from: instruction.from, to: instruction.to } };
    case "move_page": {
      const { from, to, into } = instruction;
      return { name: "rename_page", input: { from, to: into === undefined ? to : `${into}/` } };
    }
    case "remove_page":
      return { name: "delete_file", input: { path: instruction.page, to: instruction.to } };
    case "fix_links":
      return { name: "fix_links", input: instruction.under === undefined ? {} : { under: instruction.under } };
    case "add_page": {
      const { kind: _, ...input } = instruction;
      return { name: "add_page", input };
    }
    case "list_page": {
      const { kind: _, page, move, ...place } = instruction;
      return { name: "update_navigation", input: { [move ? "move" : "add"]: page, ...place } };
    }
    case "unlist_page":
      return { name: "update_navigation", input: { remove: instruction.page } };
    case "rename_group":
      return { name: "update_navigation", input: { group: instruction.from, rename: instruction.to } };
    case "order_navigation": {
      const { pages, group } = instruction;
      return { name: "update_navigation", input: { order: pages, ...(group === undefined ? {} : { group }) } };
    }
    case "set_front_matter": {
      const { page, field, value } = instruction;
      return { name: "set_front_matter", input: { page, field, value } };
    }
    case "add_redirect":
      return { name: "add_redirect", input: { from: instruction.from, to: instruction.to } };
    case "rename_heading": {
      const { page, from, to } = instruction;
      return { name: "move_section", input: { page, heading: from, rename: to } };
    }
    default:
      return assertNever(instruction);
  }
}
