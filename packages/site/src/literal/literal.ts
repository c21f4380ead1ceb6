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
}

export function entryOf(literal: Literal | undefined, key: string): Literal | undefined {
  return literal?.kind === "object" ? literal.entries.find((entry) => entry.key === key)?.value : undefined;
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
