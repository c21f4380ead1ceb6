import { asRead } from "../../lib/as-read.ts";

/**
 * Whether bytes hold a secret as it is, as it is read once references and escapes are taken for what they mean, in hex or in base64 (of either alphabet, wherever in a longer text it begins). A
 * program that means to hide it finds other ways; this stops the ones that a model is talked into.
 */
export function holdsSecret(content: Buffer, secret: string): boolean {
  if (secret.length < 8) return false;
  const bytes = Buffer.from(secret);
  if (content.includes(bytes) || asRead(content.toString()).includes(secret)) return true;
  const text = content.toString("latin1").replaceAll(/[\r\n]/g, "");
  if (text.toLowerCase().includes(bytes.toString("hex"))) return true;
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  return [0, 1, 2].some((lead) => plain.includes(base64Core(bytes, lead)));
}

/** The characters that stand for the secret alone, with so many bytes before it in its group of three. */
function base64Core(bytes: Buffer, lead: number): string {
  const encoded = Buffer.concat([Buffer.alloc(lead), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const isPartial = (lead + bytes.length) % 3 !== 0;
  return encoded.slice(lead === 0 ? 0 : lead + 1, isPartial ? -1 : undefined);
}
