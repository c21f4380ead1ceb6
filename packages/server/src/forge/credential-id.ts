import { createHash } from "node:crypto";

/** Names a credential without telling it: projects that share one share its place in the line. */
export function credentialIdOf(forge: string, apiUrl: string, credential: string): string {
  return `${forge}:${createHash("sha256").update(`${apiUrl}\0${credential}`).digest("hex").slice(0, 20)}`;
}

/** For git over HTTP. */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, "utf8").toString("base64")}`;
}
