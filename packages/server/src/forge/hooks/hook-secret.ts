import { createHmac, timingSafeEqual } from "node:crypto";

/** A project's webhook secret. It is derived, so nothing is stored and every node knows it. */
export function hookSecretOf(secret: string, projectId: string): string {
  return createHmac("sha256", secret).update(`emend forge webhook ${projectId}`).digest("hex");
}

/** Whether to read the body at all: GitLab's secret is correct, or there is a header that may be a signature. */
export function maySign(
  forge: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  secret: string,
): boolean {
  if (forge === "gitlab") return isSame(headers["x-gitlab-token"], secret);
  if (forge === "bitbucket") return /^sha256=[0-9a-f]{64}$/.test(String(headers["x-hub-signature"]));
  if (forge === "github") return /^sha256=[0-9a-f]{64}$/.test(String(headers["x-hub-signature-256"]));
  return /^[0-9a-f]{64}$/.test(String(headers["x-gitea-signature"] ?? headers["x-forgejo-signature"]));
}

/** GitLab sends the secret itself; the others sign the body with it. */
export function isSigned(
  forge: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
  secret: string,
): boolean {
  if (forge === "gitlab") return isSame(headers["x-gitlab-token"], secret);
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  if (forge === "bitbucket") return isSame(headers["x-hub-signature"], `sha256=${signature}`);
  if (forge === "github") return isSame(headers["x-hub-signature-256"], `sha256=${signature}`);
  return isSame(headers["x-gitea-signature"] ?? headers["x-forgejo-signature"], signature);
}

function isSame(given: string | string[] | undefined, wanted: string): boolean {
  if (typeof given !== "string") return false;
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
