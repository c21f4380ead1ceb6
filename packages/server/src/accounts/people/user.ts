import { AppError } from "../../errors.ts";
import { hasFactorSql } from "../factors/requirement.ts";

/** In ascending order: each role includes the previous ones. */
export const roles = ["viewer", "maintainer", "owner"] as const;
/** A viewer reads. A maintainer manages projects, keys and jobs. An owner also manages members and settings. */
export type Role = (typeof roles)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

export interface User {
  id: string;
  email: string;
  name: string;
  role: Role;
  hasPassword: boolean;
  hasFactor: boolean;
  createdAt: Date;
  lastLoginAt: Date | null;
}

export const userColumns = `id, email, name, role, password_hash is not null as "hasPassword",
  ${hasFactorSql("users.id")} as "hasFactor",
  created_at as "createdAt", last_login_at as "lastLoginAt"`;

const emailLengthMax = 254;
const nameLengthMax = 200;
const passwordLengthMin = 12;
const passwordLengthMax = 1000;

/**
 * Lowercased and trimmed; null if invalid. Only printable ASCII: for other letters, the database and JavaScript
 * disagree about case.
 */
export function readEmail(text: string): string | null {
  const email = text.trim();
  const isEmail = email.length <= emailLengthMax && /^[!-?A-~]+@[!-?A-~]+$/.test(email);
  return isEmail ? email.toLowerCase() : null;
}

export function parseEmail(text: string): string {
  const email = readEmail(text);
  if (email !== null) return email;
  throw invalid("That is not an email address. Only ASCII characters are allowed.");
}

export function parseName(text: string): string {
  const name = text.trim();
  if (name !== "" && name.length <= nameLengthMax && !/[\p{Cc}\p{Cf}]/u.test(name)) return name;
  throw invalid(`A name must have 1 to ${nameLengthMax} characters.`);
}

/** Only the length counts; there are no rules about characters. */
export function parsePassword(text: string, email: string): string {
  const { length } = [...text];
  if (length < passwordLengthMin) throw invalid(`A password must have at least ${passwordLengthMin} characters.`);
  if (length > passwordLengthMax) throw invalid(`A password must have at most ${passwordLengthMax} characters.`);
  if (text.toLowerCase() === email.toLowerCase()) throw invalid("The password must not be the email address.");
  if (new Set(text).size < 4) throw invalid("That password is too easy to guess.");
  return text;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
