import { ScimFault } from "./scim-fault.ts";

/** `attribute`, `attribute.part`, `attribute[part eq "…"]`, or the last with `.part`. Names are in lower case. */
export interface ScimPath {
  attribute: string;
  /** Selects values of an attribute that has several. */
  where: Equality | null;
  part: string | null;
}

interface Equality {
  attribute: string;
  value: string | boolean;
}

const name = "[A-Za-z$][\\w$-]*";
/** An attribute can be written with its schema: `urn:ietf:params:scim:schemas:core:2.0:User:userName`. */
const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i;
const equality = new RegExp(`^\\s*(${name}(?:\\.${name})?)\\s+eq\\s+("(?:[^"\\\\]|\\\\.)*"|true|false)\\s*$`, "i");
const path = new RegExp(`^(${name})(?:\\[((?:[^"\\]]|"(?:[^"\\\\]|\\\\.)*")*)\\])?(?:\\.(${name}))?$`);
const lengthMax = 2000;

/** A filter of a list: one comparison by `eq` of a listed attribute. Others are refused with `invalidFilter`. */
export function parseFilter(text: string, known: readonly string[]): Equality & { value: string } {
  const found = readEquality(text);
  const attribute = known.find((each) => each.toLowerCase() === found?.attribute);
  if (found && attribute && typeof found.value === "string") return { attribute, value: found.value };
  const usable = known.map((each) => `${each} eq "…"`).join(", ");
  throw new ScimFault("invalidFilter", `This filter is not supported. Use one of: ${usable}.`);
}

/** The path of a PATCH operation. Null: of a schema that Emend does not have. */
export function parsePath(text: string): ScimPath | null {
  const local = text.trim().replace(coreSchema, "");
  if (/^urn:/i.test(local)) return null;
  const [, attribute, filter, part] = (local.length <= lengthMax && path.exec(local)) || [];
  if (attribute === undefined) throw invalidPath();
  const where = filter === undefined ? null : readEquality(filter);
  if (filter !== undefined && !where) throw invalidPath();
  return { attribute: attribute.toLowerCase(), where, part: part?.toLowerCase() ?? null };
}

function readEquality(text: string): Equality | null {
  const local = text.trim().replace(coreSchema, "");
  const [, attribute, value] = (local.length <= lengthMax && equality.exec(local)) || [];
  if (attribute === undefined || value === undefined) return null;
  const read = jsonOf(/^(?:true|false)$/i.test(value) ? value.toLowerCase() : value);
  if (typeof read !== "string" && typeof read !== "boolean") return null;
  return { attribute: attribute.toLowerCase(), value: read };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalidPath(): ScimFault {
  return new ScimFault(
    "invalidPath",
    'A path must be an attribute, a part of one, or values of one: userName, name.givenName, members[value eq "…"].',
  );
}
