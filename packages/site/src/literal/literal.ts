import { indentOf, newlineOf, type Splice } from "../text/bytes.ts";

/** A value in JSON, JSONC, JavaScript or TypeScript source, with its byte range. Nothing is evaluated. */
export type Literal = ObjectLiteral | ArrayLiteral | StringLiteral | OtherLiteral;

export interface Entry {
  key: string;
  keyStart: number;
  value: Literal;
}

export interface ObjectLiteral {
  kind: "object";
  start: number;
  end: number;
  entries: Entry[];
  /** Values inside that have no key: spreads, statements of a function body. */
  children: Literal[];
}

export interface ArrayLiteral {
  kind: "array";
  start: number;
  end: number;
  items: Literal[];
}

export interface StringLiteral {
  kind: "string";
  /** Includes the quotes. */
  start: number;
  end: number;
  value: string;
}

/** A number, a name, a call or any other expression. Children are the literals inside. */
interface OtherLiteral {
  kind: "other";
  start: number;
  end: number;
  children: Literal[];
  /** Known only in an evaluated configuration. */
  value?: boolean | number | null;
}

/** The values of an evaluated configuration. They have no place in a file, so they cannot be edited. */
export function literalOf(value: unknown): Literal {
  const place = { start: 0, end: 0 };
  if (typeof value === "string") return { kind: "string", ...place, value };
  if (Array.isArray(value)) return { kind: "array", ...place, items: value.map(literalOf) };
  if (typeof value === "boolean" || typeof value === "number" || value === null)
    return { kind: "other", ...place, children: [], value };
  if (typeof value !== "object" || "$unknown" in value) return { kind: "other", ...place, children: [] };
  const entries = Object.entries(value).map(([key, one]) => ({ key, keyStart: 0, value: literalOf(one) }));
  return { kind: "object", ...place, entries, children: [] };
}

export function entryOf(literal: Literal | undefined, key: string): Literal | undefined {
  return literal?.kind === "object" ? literal.entries.find((entry) => entry.key === key)?.value : undefined;
}

const plainValue = /^(?:true|false|null|undefined|-?\d[\d.]*)$/;

/** Whether an object sets a name to a value that its text does not show: an expression, or a variable of that name. */
export function isComputed(literal: Literal | undefined, name: string, text: string): boolean {
  if (literal?.kind !== "object") return false;
  const value = entryOf(literal, name);
  const written = ({ start, end }: Literal): string => text.slice(start, end);
  if (value?.kind === "other") return value.value === undefined && !plainValue.test(written(value));
  return value === undefined && literal.children.some((child) => written(child) === name);
}

/** Whether an object takes entries from another one. */
export function hasSpread(literal: Literal | undefined, text: string): boolean {
  return literal?.kind === "object" && literal.children.some(({ start }) => text.startsWith("...", start));
}

export function stringOf(literal: Literal | undefined): string | null {
  return literal?.kind === "string" ? literal.value : null;
}

/** Every literal inside, in pre-order. */
export function* walkLiteral(literal: Literal): Generator<Literal> {
  yield literal;
  switch (literal.kind) {
    case "object":
      for (const { value } of literal.entries) yield* walkLiteral(value);
      for (const child of literal.children) yield* walkLiteral(child);
      break;
    case "array":
      for (const item of literal.items) yield* walkLiteral(item);
      break;
    case "other":
      for (const child of literal.children) yield* walkLiteral(child);
      break;
    case "string":
      break;
  }
}

/** Whether a literal inside matches. Uses no generator per level, because lists may be long. */
export function someLiteral(literal: Literal, isSo: (one: Literal) => boolean): boolean {
  if (isSo(literal)) return true;
  switch (literal.kind) {
    case "object":
      return (
        literal.entries.some(({ value }) => someLiteral(value, isSo)) ||
        literal.children.some((child) => someLiteral(child, isSo))
      );
    case "array":
      return literal.items.some((item) => someLiteral(item, isSo));
    case "other":
      return literal.children.some((child) => someLiteral(child, isSo));
    case "string":
      return false;
  }
}

function membersOf(list: ArrayLiteral | ObjectLiteral): { start: number; end: number }[] {
  if (list.kind === "array") return list.items;
  return list.entries.map((entry) => ({ start: entry.keyStart, end: entry.value.end }));
}

/** The indentation of an offset's line plus one level, in the file's style. */
function deeper(text: string, offset: number): string {
  const indent = indentOf(text, offset);
  const unit = /\n(\t|[ ]{2,8})\S/.exec(text)?.[1] ?? "  ";
  return indent + unit;
}

/**
 * Inserts source (one member, or several with commas) before the member at index, or last, formatted like its
 * neighbours.
 */
export function insertMember(text: string, list: ArrayLiteral | ObjectLiteral, index: number, source: string): Splice {
  const members = membersOf(list);
  const newline = newlineOf(text);
  const isLines = text.slice(list.start, list.end).includes("\n");
  const before = members[index - 1];
  const following = members[index];
  if (following !== undefined && before === undefined) {
    const gap = isLines ? `,${newline}${indentOf(text, following.start)}` : ", ";
    return { start: following.start, end: following.start, text: source + gap };
  }
  if (before !== undefined) {
    const gap = isLines ? `,${newline}${indentOf(text, before.start)}` : ", ";
    return { start: before.end, end: before.end, text: gap + source };
  }
  // `[]` stays on one line, so that removing the member again restores the same bytes.
  if (!isLines) return { start: list.start + 1, end: list.end - 1, text: source };
  const indent = deeper(text, list.start);
  const lined = `${newline}${indent}${source}${newline}${indentOf(text, list.start)}`;
  return { start: list.start + 1, end: list.end - 1, text: lined };
}

/** Removes members with their commas and lines. */
export function removeMembers(list: ArrayLiteral | ObjectLiteral, indexes: ReadonlySet<number>): Splice[] {
  const members = membersOf(list);
  const firstKept = members.findIndex((_, index) => !indexes.has(index));
  if (firstKept === -1) return [{ start: list.start + 1, end: list.end - 1, text: "" }];
  const splices: Splice[] = [];
  const [first] = members;
  const kept = members[firstKept];
  if (firstKept > 0 && first !== undefined && kept !== undefined) {
    splices.push({ start: first.start, end: kept.start, text: "" });
  }
  for (let index = firstKept + 1; index < members.length; index++) {
    const before = members[index - 1];
    const member = members[index];
    if (indexes.has(index) && before !== undefined && member !== undefined) {
      splices.push({ start: before.end, end: member.end, text: "" });
    }
  }
  return splices;
}

/** A string in the quotes that neighbouring strings use. */
export function quoteLike(text: string, neighbour: Literal | undefined, value: string): string {
  const quote = neighbour?.kind === "string" ? text.charAt(neighbour.start) : '"';
  if (quote === '"' || quote === "`") return JSON.stringify(value);
  return `'${value.replace(/[\\']/g, "\\$&")}'`;
}
