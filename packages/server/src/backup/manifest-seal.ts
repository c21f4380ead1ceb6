import { createHmac, hkdfSync } from "node:crypto";
import type { Manifest } from "./archive.ts";

export function secretMark(secret: string): string {
  return Buffer.from(hkdfSync("sha256", secret, "", "emend archive", 16)).toString("hex");
}

/** Over everything that a manifest says, and by the digests that it names over every file: only who has the secret can make it. */
export function sealOf(secret: string, manifest: Omit<Manifest, "seal">): string {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "emend archive seal", 32));
  return createHmac("sha256", key).update(JSON.stringify(manifest)).digest("hex");
}
