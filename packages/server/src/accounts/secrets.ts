import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { AppError } from "../errors.ts";

const version = 1;
const keyIdLength = 4;
const nonceLength = 12;
const tagLength = 16;
const headerLength = 1 + keyIdLength;

/**
 * Encrypts credentials for the database with EMEND_SECRET. `context` names the owner: a value that was encrypted for
 * one cannot be decrypted for another.
 */
export interface Sealer {
  seal(text: string, context: string): Buffer;
  open(sealed: Buffer, context: string): string;
}

/**
 * AES-256-GCM. The envelope is version, key id, nonce, ciphertext, tag. The key id says which secret decrypts it, so
 * that a secret can be rotated.
 */
export function createSealer(secret: string, formerSecrets: readonly string[] = []): Sealer {
  const current = deriveKey(secret);
  const keys = new Map([...formerSecrets.map(deriveKey), current].map((key) => [key.id.toString("hex"), key]));

  return {
    seal(text, context) {
      const header = Buffer.concat([Buffer.from([version]), current.id]);
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv("aes-256-gcm", current.bytes, nonce);
      cipher.setAAD(Buffer.concat([header, Buffer.from(context)]));
      return Buffer.concat([header, nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      const header = sealed.subarray(0, headerLength);
      const key = sealed[0] === version ? keys.get(header.subarray(1).toString("hex")) : undefined;
      if (!key || sealed.length < headerLength + nonceLength + tagLength) {
        throw new AppError("internal", { publicMessage: "A stored credential was sealed with another EMEND_SECRET." });
      }
      const nonce = sealed.subarray(headerLength, headerLength + nonceLength);
      const decipher = createDecipheriv("aes-256-gcm", key.bytes, nonce, { authTagLength: tagLength });
      decipher.setAAD(Buffer.concat([header, Buffer.from(context)]));
      decipher.setAuthTag(sealed.subarray(-tagLength));
      const text = decipher.update(sealed.subarray(headerLength + nonceLength, -tagLength));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    },
  };
}

function deriveKey(secret: string): { id: Buffer; bytes: Buffer } {
  const bytes = Buffer.from(hkdfSync("sha256", secret, "", "emend sealed credentials", 32));
  return { id: createHash("sha256").update(bytes).digest().subarray(0, keyIdLength), bytes };
}
