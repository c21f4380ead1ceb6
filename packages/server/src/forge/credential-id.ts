import { createHash } from "node:crypto";

/** Identifies a credential without revealing it. Projects with the same credential share one write queue. */
export function credentialIdOf(forge: string, apiUrl: string, credential: string): string {
  return `${forge}:${createHash("sha256").update(`${apiUrl}\0${credential}`).digest("hex").slice(0, 20)}`;
}

/** For git over HTTP. */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, "utf8").toString("base64")}`;
}
