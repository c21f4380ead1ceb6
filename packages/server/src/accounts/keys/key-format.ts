import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const prefix = "emend_";
const idLength = 12;
/** 30 base-62 digits have 178.6 bits. */
export const secretLength = 30;
const checksumLength = 6;
const idEnd = prefix.length + idLength;
const secretEnd = idEnd + secretLength;
const keyLength = secretEnd + checksumLength;
const form = new RegExp(`^${prefix}[0-9A-Za-z]+$`);

export interface KeyParts {
  id: string;
  secret: string;
  checksum: string;
}

export function newKey(id = randomDigits(idLength)): KeyParts & { text: string; hint: string } {
  const secret = randomDigits(secretLength);
  const text = prefix + id + secret;
  const checksum = checksumOf(text);
  return { id, secret, checksum, text: text + checksum, hint: text.slice(0, prefix.length + 4) };
}

/** The parts of a text in key format, or null. */
export function splitKey(text: string): KeyParts | null {
  if (text.length !== keyLength || !form.test(text)) return null;
  return {
    id: text.slice(prefix.length, idEnd),
    secret: text.slice(idEnd, secretEnd),
    checksum: text.slice(secretEnd),
  };
}

/** Whether the checksum is correct: typos and guesses are refused here, without a query. */
export function isKey({ id, secret, checksum }: KeyParts): boolean {
  return checksumOf(prefix + id + secret) === checksum;
}

function randomDigits(length: number): string {
  return Array.from({ length }, () => digits[randomInt(digits.length)]).join("");
}

function checksumOf(text: string): string {
  let checksum = "";
  for (let rest = crc32(text); checksum.length < checksumLength; rest = Math.floor(rest / digits.length)) {
    checksum = digits[rest % digits.length] + checksum;
  }
  return checksum;
}

/** API keys: which projects they grant, and read or write access. */

export type KeyScope = "read" | "write";

/** The permissions of a valid key. */
export interface KeyGrant {
  readonly keyId: string;
  readonly projectIds: ReadonlySet<string>;
  readonly scope: KeyScope;
}

/** A key in lists, without its secret. */
export interface AdminKey {
  id: string;
  /** The first characters, to recognize it. */
  hint: string;
  name: string;
  projectIds: readonly string[];
  scope: KeyScope;
  expiresAt: Date | null;
  /** Null: every address. */
  allowList: readonly string[] | null;
  createdBy: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}
