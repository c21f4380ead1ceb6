import { unseenCharacters } from "@emend/contract";
import { readEmail } from "../people/user.ts";
import { ScimFault } from "./scim-fault.ts";
import { type Attributes, fieldOf, isRecord, type PatchShape } from "./scim-patch.ts";

/** What Emend reads of a person that a provider describes. */
export interface ScimUser {
  userName: string;
  externalId: string | null;
  active: boolean;
  email: string;
  name: string;
  /** `name`, `displayName` and `emails`, returned as they came. */
  attributes: Attributes;
}

export const userShape: PatchShape = {
  kept: ["userName", "externalId", "active", "name", "displayName", "emails"],
  lists: ["emails"],
  ignored: [
    ...["id", "schemas", "meta", "groups"],
    ...["nickName", "profileUrl", "title", "userType", "preferredLanguage", "locale", "timezone", "password"],
    ...["phoneNumbers", "ims", "photos", "addresses", "entitlements", "roles", "x509Certificates"],
  ],
};

const textMax = 200;
const externalIdMax = 500;
const emailsMax = 20;

/** Validates what came, or what a PATCH made. Nothing is stored of a person who is refused. */
export function readScimUser(given: unknown, activeBefore = true): ScimUser {
  if (!isRecord(given)) throw new ScimFault("invalidSyntax", "The body must be a User.");
  const field = (name: string) => fieldOf(given, name) ?? undefined;
  const userName = readText("userName", field("userName"), textMax);
  if (userName === null) throw new ScimFault("invalidValue", "userName is required.");
  const externalId = readText("externalId", field("externalId"), externalIdMax);
  const displayName = readText("displayName", field("displayName"), textMax);
  const name = readName(field("name"));
  const emails = readEmails(field("emails"));
  const email = readEmail(chosenEmail(emails) ?? userName);
  if (email === null) {
    throw new ScimFault("invalidValue", "The person needs an email address in ASCII: as userName, or in emails.");
  }
  const fullName = displayName ?? name?.formatted ?? [name?.givenName, name?.familyName].filter(Boolean).join(" ");
  return {
    userName,
    externalId,
    active: readActive(field("active"), activeBefore),
    email,
    name: fullName || email,
    attributes: {
      ...(displayName !== null && { displayName }),
      ...(name && { name }),
      ...(emails.length > 0 && { emails }),
    },
  };
}

/** One line without invisible characters. Null: absent or empty. */
export function readText(name: string, value: unknown, max: number): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw new ScimFault("invalidValue", `${name} must be text.`);
  const line = value.toWellFormed().replace(unseenCharacters, "").replace(/\s+/g, " ").trim();
  if ([...line].length > max) throw new ScimFault("invalidValue", `${name} must have at most ${max} characters.`);
  return line === "" ? null : line;
}

/** Entra sends `"False"`. Not mentioned: as before. */
function readActive(value: unknown, before: boolean): boolean {
  if (value === undefined) return before;
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  if (text === "true" || text === "false") return text === "true";
  throw new ScimFault("invalidValue", "active must be true or false.");
}

function readName(value: unknown): Record<string, string> | null {
  if (value === undefined) return null;
  if (!isRecord(value)) throw new ScimFault("invalidValue", "name must be an object.");
  const parts = ["formatted", "givenName", "familyName", "middleName", "honorificPrefix", "honorificSuffix"];
  const kept = parts.flatMap((part): [string, string][] => {
    const text = readText(`name.${part}`, fieldOf(value, part), textMax);
    return text === null ? [] : [[part, text]];
  });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

interface Email {
  value: string;
  type?: string;
  primary?: boolean;
}

function readEmails(value: unknown): Email[] {
  if (value === undefined) return [];
  const emails = [value].flat();
  if (emails.length > emailsMax) throw new ScimFault("invalidValue", `emails must have at most ${emailsMax} values.`);
  return emails.flatMap((each): Email[] => {
    if (!isRecord(each)) throw new ScimFault("invalidValue", "emails must be a list of objects with a value.");
    const address = readText("emails.value", fieldOf(each, "value"), 254);
    if (address === null) return [];
    const type = readText("emails.type", fieldOf(each, "type"), textMax);
    const primary = String(fieldOf(each, "primary")).toLowerCase() === "true";
    return [{ value: address, ...(type && { type }), ...(primary && { primary }) }];
  });
}

/** The primary address, else the one at work, else the first. */
function chosenEmail(emails: readonly Email[]): string | undefined {
  const chosen = emails.find(({ primary }) => primary) ?? emails.find(({ type }) => type === "work") ?? emails[0];
  return chosen?.value;
}
