import { asRead } from "../../lib/as-read.ts";
import { base64Core } from "../../lib/base64-core.ts";

/**
 * Whether bytes hold a secret as it is, as it is read once references and escapes are taken for what they mean, in hex or
 * in base64 (of either alphabet, wherever in a longer text it begins). A program that means to hide it finds other ways;
 * this stops the ones that a model is talked into.
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
