import { ScimFault } from "./scim-fault.ts";
import { parsePath, type ScimPath } from "./scim-path.ts";

/** A resource as a provider changes it: its attributes by the names of the standard. */
export type Attributes = Record<string, unknown>;

/** What a type of resource has. Names are compared without case. */
export interface PatchShape {
  /** Attributes that Emend keeps. */
  kept: readonly string[];
  /** Kept attributes with a list of values. */
  lists: readonly string[];
  /** Attributes of the standard that Emend does not keep: changes to them are ignored. */
  ignored: readonly string[];
}

interface Operation {
  op: "add" | "remove" | "replace";
  path: ScimPath;
  value: unknown;
}

const operationsMax = 1000;

/**
 * The attributes after a PATCH (RFC 7644, section 3.5.2). Takes what Entra and Okta send as well: operations in any
 * case, values without a path, paths with a filter, and dotted names inside of a value.
 */
export function applyPatch(before: Attributes, body: unknown, shape: PatchShape): Attributes {
  const after = structuredClone(before);
  const lists: Lists = new Map(
    shape.lists.map((name) => [name, byValue(Array.isArray(after[name]) ? (after[name] as unknown[]) : [])]),
  );
  for (const operation of readOperations(body)) apply(after, lists, operation, shape);
  for (const [name, values] of lists)
    if (values.size > 0 || after[name] !== undefined) after[name] = [...values.values()];
  return after;
}

/**
 * Values of a list by their `value`: they are the same if it is. A group has thousands, and a PATCH may have as many
 * operations. Those without one have a symbol.
 */
type Values = Map<string | symbol, unknown>;
type Lists = Map<string, Values>;

const byValue = (values: readonly unknown[]): Values => new Map(values.map((each) => [keyOf(each), each]));

function keyOf(each: unknown): string | symbol {
  const value = isRecord(each) ? each.value : undefined;
  return value === undefined ? Symbol("no value") : String(value).toLowerCase();
}

function readOperations(body: unknown): Operation[] {
  const operations = isRecord(body) ? fieldOf(body, "operations") : undefined;
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > operationsMax) {
    throw new ScimFault("invalidSyntax", `Operations must be a list of 1 to ${operationsMax} changes.`);
  }
  return operations.flatMap((operation: unknown): Operation[] => {
    if (!isRecord(operation)) throw new ScimFault("invalidSyntax", "Each operation must be an object.");
    const op = String(operation.op).toLowerCase();
    if (op !== "add" && op !== "remove" && op !== "replace") {
      throw new ScimFault("invalidSyntax", "An operation's op must be add, remove or replace.");
    }
    const { path, value } = operation;
    if (path !== undefined && typeof path !== "string") throw new ScimFault("invalidPath", "A path must be text.");
    if (path) return readOne(op, path, value);
    if (op === "remove") throw new ScimFault("noTarget", "An operation that removes something needs a path.");
    if (!isRecord(value)) {
      throw new ScimFault("invalidValue", "An operation without a path needs an object of attributes as its value.");
    }
    return Object.entries(value).flatMap(([name, each]) => (name === "schemas" ? [] : readOne(op, name, each)));
  });
}

/** None: of an attribute of a schema that Emend does not have. */
function readOne(op: Operation["op"], text: string, value: unknown): Operation[] {
  const path = parsePath(text);
  return path ? [{ op, path, value }] : [];
}

function apply(resource: Attributes, lists: Lists, { op, path, value }: Operation, shape: PatchShape): void {
  const { attribute, where, part } = path;
  if (shape.ignored.some((each) => each.toLowerCase() === attribute)) return;
  const name = shape.kept.find((each) => each.toLowerCase() === attribute);
  if (name === undefined) throw new ScimFault("invalidPath", "The path names an attribute that does not exist.");
  const values = lists.get(name);
  if (!values) {
    if (where) throw new ScimFault("invalidPath", `${name} has one value, so it can't have a filter.`);
    applyToOne(resource, name, { op, part, value });
    return;
  }
  lists.set(name, where ? patchSome(values, { op, where, part, value }) : patchAll(values, { op, part, value }));
}

/** An attribute with one value, or a part of it. */
function applyToOne(
  resource: Attributes,
  name: string,
  { op, part, value }: Pick<Operation, "op" | "value"> & { part: string | null },
): void {
  const present = resource[name];
  if (part === null) {
    if (op === "remove") delete resource[name];
    else resource[name] = isRecord(present) && isRecord(value) ? { ...present, ...value } : value;
    return;
  }
  const parts = isRecord(present) ? { ...present } : {};
  setPart(parts, part, op === "remove" ? undefined : value);
  resource[name] = parts;
}

/** All values of a list. */
function patchAll(
  values: Values,
  { op, part, value }: Pick<Operation, "op" | "value"> & { part: string | null },
): Values {
  if (part !== null) throw new ScimFault("invalidPath", "A part of a list's values needs a filter.");
  const given = byValue(value === undefined ? [] : [value].flat());
  // The standard removes all. Entra names those to remove in the value.
  if (op === "replace" || value === undefined) return op === "remove" ? new Map() : given;
  for (const [key, each] of given) {
    values.delete(key);
    if (op === "add") values.set(key, each);
  }
  return values;
}

/** A list with more values is filtered by their `value` alone, which needs no search. */
const searchedMax = 100;

/** The values that a filter selects. */
function patchSome(
  values: Values,
  {
    op,
    where,
    part,
    value,
  }: Pick<Operation, "op" | "value"> & {
    where: NonNullable<ScimPath["where"]>;
    part: string | null;
  },
): Values {
  const wanted = String(where.value).toLowerCase();
  const isSearch = where.attribute !== "value";
  if (isSearch && values.size > searchedMax)
    throw new ScimFault("invalidPath", `Of more than ${searchedMax} values, a filter can only compare value.`);
  const isMeant = (each: unknown) => isRecord(each) && String(fieldOf(each, where.attribute)).toLowerCase() === wanted;
  const meant = isSearch
    ? [...values.keys()].filter((key) => isMeant(values.get(key)))
    : values.has(wanted)
      ? [wanted]
      : [];
  if (op !== "remove" && meant.length === 0) {
    // Entra adds `emails[type eq "work"].value` to somebody who has none.
    const made = { [where.attribute]: where.value };
    const added = part === null ? { ...made, ...(isRecord(value) ? value : {}) } : { ...made, [part]: value };
    return values.set(keyOf(added), added);
  }
  for (const key of meant) {
    const each = values.get(key) as Attributes;
    if (part !== null) values.set(key, withPart(each, part, op === "remove" ? undefined : value));
    else if (op === "remove") values.delete(key);
    else if (isRecord(value)) values.set(key, { ...each, ...value });
  }
  // Their `value` may be another now.
  return isSearch ? byValue([...values.values()]) : values;
}

function withPart(values: Attributes, part: string, value: unknown): Attributes {
  const after = { ...values };
  setPart(after, part, value);
  return after;
}

function setPart(values: Attributes, part: string, value: unknown): void {
  const name = Object.keys(values).find((each) => each.toLowerCase() === part) ?? standardName(part);
  if (value === undefined) delete values[name];
  else values[name] = value;
}

const partNames = ["givenName", "familyName", "middleName", "honorificPrefix", "honorificSuffix"];

function standardName(part: string): string {
  return partNames.find((each) => each.toLowerCase() === part) ?? part;
}

export function isRecord(value: unknown): value is Attributes {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field by its name without case, as attribute names are. */
export function fieldOf(values: Attributes, name: string): unknown {
  const key = Object.keys(values).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : values[key];
}
