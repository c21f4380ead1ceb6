import { createHmac, randomBytes } from "node:crypto";

/** Time-based one-time passwords (RFC 6238), as every authenticator app makes them: SHA-1, six digits, 30 seconds. */

export const stepSeconds = 30;
const digits = 6;
const keyBytes = 20;
/** A phone's clock may be off by this many steps, in both directions. */
const stepsOff = 1;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** A new key in base32, as people type it. */
export function newTotpKey(): string {
  return toBase32(randomBytes(keyBytes));
}

/** 5 bits a character, without padding: for a multiple of 5 bytes. */
export function toBase32(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 5) {
    const bits = bytes.readUIntBE(at, 5);
    for (let index = 7; index >= 0; index -= 1) text += alphabet[Math.floor(bits / 32 ** index) % 32];
  }
  return text;
}

function fromBase32(text: string): Buffer {
  const bytes = Buffer.alloc((text.length * 5) / 8);
  for (let at = 0; at < text.length; at += 8) {
    let bits = 0;
    for (const letter of text.slice(at, at + 8)) bits = bits * 32 + alphabet.indexOf(letter);
    bytes.writeUIntBE(bits, (at / 8) * 5, 5);
  }
  return bytes;
}

/** What a QR code tells an authenticator app. */
export function totpUri(input: { key: string; issuer: string; account: string }): string {
  const { key, issuer, account } = input;
  const query = new URLSearchParams({ secret: key, issuer }).toString().replaceAll("+", "%20");
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${query}`;
}

/** The step that a code belongs to, if it is close to now and after the last one used. */
export function findStep(key: string, code: string, steps: { now: number; lastUsed: number }): number | null {
  const bytes = fromBase32(key);
  for (let step = steps.now - stepsOff; step <= steps.now + stepsOff; step += 1) {
    if (step > steps.lastUsed && codeOf(bytes, step) === code) return step;
  }
  return null;
}

function codeOf(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", key).update(counter).digest();
  const from = (mac.at(-1) ?? 0) & 15;
  const number = mac.readUInt32BE(from) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}
