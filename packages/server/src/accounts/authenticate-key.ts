import type { KeyGrant } from "./admin-key.ts";
import type { Keyring } from "./keyring.ts";

/** As much of a request as it takes to authenticate it. */
export interface KeyBearer {
  readonly headers: { readonly authorization?: string | undefined };
  /** The client's address, behind trusted proxies. */
  readonly ip: string;
}

/** The grant of the key in `Authorization: Bearer`, or null, whatever was wrong with it. */
export function authenticateKey(keyring: Keyring, bearer: KeyBearer): KeyGrant | null | Promise<KeyGrant | null> {
  const key = bearerKey(bearer.headers.authorization);
  return key === null ? null : keyring.authenticate(key, bearer);
}

/** The same for git clients, which send a key as the password of `Authorization: Basic`, under any user name. */
export function authenticateGitKey(keyring: Keyring, bearer: KeyBearer): KeyGrant | null | Promise<KeyGrant | null> {
  const { authorization } = bearer.headers;
  const key = bearerKey(authorization) ?? basicPassword(authorization);
  return key === null ? null : keyring.authenticate(key, bearer);
}

function bearerKey(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  // As every client writes it: no regular expression on the path of each request.
  if (authorization.startsWith("Bearer emend_")) return authorization.slice(7);
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon === -1 ? null : text.slice(colon + 1);
}
