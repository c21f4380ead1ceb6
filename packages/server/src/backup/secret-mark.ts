import { hkdfSync } from "node:crypto";

export function secretMark(secret: string): string {
  return Buffer.from(hkdfSync("sha256", secret, "", "emend archive", 16)).toString("hex");
}
