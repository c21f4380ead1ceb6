import { assertNever } from "@emend/base/fault.ts";
import { describeInstruction, type Instruction } from "./instruction.ts";

/** Finds two instructions that contradict each other in any order. */
export function findConflict(instructions: readonly Instruction[]): { clause: string; reason: string } | null {
  for (const [index, later] of instructions.entries()) {
    for (const earlier of instructions.slice(0, index)) {
      const reason = conflictOf(earlier, later);
      if (reason !== null) return { clause: `${describeInstruction(earlier)} … ${describeInstruction(later)}`, reason };
    }
  }
  return null;
}

function conflictOf(earlier: Instruction, later: Instruction): string | null {
  if (same(earlier, later)) return null;
  const [first, second] = [wordsOf(earlier), wordsOf(later)];
  if (first && second && overlap(first.under, second.under)) {
    if (first.from === second.from) return first.to === second.to ? null : "they replace the same term by two others";
    if (first.to === second.from || second.to === first.from)
      return "one undoes or continues the other: say the last form only";
  }
  if (isMove(earlier) && isMove(later)) {
    if (key(earlier.from) === key(later.from)) return "they move the same page to two places";
    if (key(earlier.to) === key(later.to)) return "they move two pages to the same place";
    if (key(earlier.to) === key(later.from)) return "one moves what the other has moved: say its last place only";
  }
  if (isMove(earlier) && pagesOf(later).some((page) => isAt(page, earlier.from))) {
    return `${earlier.from} has been moved by then: name the page by its new place`;
  }
  if (earlier.kind === "remove_page" && pagesOf(later).some((page) => isAt(page, earlier.page))) {
    return `${earlier.page} has been deleted by then`;
  }
  if (earlier.kind === "rename_group" && later.kind === "rename_group" && key(earlier.from) === key(later.from)) {
    return "they give the same group two names";
  }
  if (
    earlier.kind === "rename_group" &&
    "group" in later &&
    later.group?.toLowerCase() === earlier.from.toLowerCase()
  ) {
    return `the group "${earlier.from}" has another name by then: use that one`;
  }
  if (isEntry(earlier) && isEntry(later) && key(earlier.page) === key(later.page)) {
    return "they are about the same entry of the navigation";
  }
  if (earlier.kind === "set_front_matter" && later.kind === "set_front_matter") {
    const isSame = key(earlier.page) === key(later.page) && earlier.field === later.field;
    return isSame ? "they set the same field twice" : null;
  }
  if (earlier.kind === "add_page" && later.kind === "add_page" && key(earlier.path) === key(later.path)) {
    return "they add the same page twice";
  }
  if (earlier.kind === "add_redirect" && later.kind === "add_redirect" && key(earlier.from) === key(later.from)) {
    return "they redirect the same address to two places";
  }
  if (earlier.kind === "order_navigation" && later.kind === "order_navigation" && earlier.group === later.group) {
    return "they order the same navigation twice";
  }
  return null;
}

function wordsOf(instruction: Instruction): { from: string; to: string; under: string } | null {
  if (instruction.kind !== "replace_term" && instruction.kind !== "rename") return null;
  const under = instruction.kind === "rename" ? "" : key(instruction.under ?? "");
  return { from: instruction.from.toLowerCase(), to: instruction.to.toLowerCase(), under };
}

/** Whether one of two places, a page or a folder, contains the other. */
function overlap(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

function isMove(instruction: Instruction): instruction is Extract<Instruction, { kind: "move_page" }> {
  return instruction.kind === "move_page";
}

function isEntry(instruction: Instruction): instruction is Extract<Instruction, { kind: "list_page" | "unlist_page" }> {
  return instruction.kind === "list_page" || instruction.kind === "unlist_page";
}

/** The pages that an instruction names, before it runs. */
function pagesOf(instruction: Instruction): readonly string[] {
  switch (instruction.kind) {
    case "set_front_matter":
    case "rename_heading":
    case "unlist_page":
      return [instruction.page];
    case "list_page":
      return [instruction.page, instruction.before, instruction.after].filter((page) => page !== undefined);
    case "remove_page":
    case "move_section":
      return [instruction.page, instruction.to];
    case "order_navigation":
      return instruction.pages;
    case "move_page":
      return [instruction.from];
    case "replace_term":
    case "fix_links":
      return instruction.under === undefined ? [] : [instruction.under];
    case "add_redirect":
      return [instruction.to];
    case "rename":
    case "add_page":
    case "rename_group":
    case "renew_screenshots":
      return [];
    default:
      return assertNever(instruction);
  }
}

function isAt(page: string, moved: string): boolean {
  const [name, from] = [key(page), key(moved)];
  return name === from || (moved.endsWith("/") && name.startsWith(`${from}/`));
}

/** A page's normalized name. */
export function key(path: string): string {
  return path
    .replace(/^\.?\/+/, "")
    .replace(/\/+$/, "")
    .replace(/\.mdx?$/i, "")
    .toLowerCase();
}

function same(a: Instruction, b: Instruction): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
