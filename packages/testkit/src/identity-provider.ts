import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export const clientId = "emend";
export const clientSecret = "a secret: with %odd characters";

/** The claims of the provider's next login, and how they are forged. */
export interface Script {
  subject: string;
  claims: JWTPayload;
  /** Changes the claims before they are signed. */
  alter?(claims: JWTPayload): JWTPayload;
  /** Signs with a key that is not published. */
  isForged?: boolean;
  /** Replaces the whole token. */
  sign?(claims: JWTPayload): Promise<string>;
  /** Changes the discovery document. */
  discovery?: Readonly<Record<string, unknown>>;
  userInfo?: Readonly<Record<string, unknown>>;
}

export interface IdentityProvider {
  issuer: string;
  script: Script;
  /** The number of requests per path. */
  readonly asked: Readonly<Record<string, number>>;
  /** How the client authenticated when it last redeemed a code. */
  readonly clientProvedBy: string | null;
  /** Logs the user in, as a browser does at the provider. Returns the redirect back to the client. */
  visit(location: string): URL;
  /** Rotates the signing key. */
  rotateKey(): Promise<void>;
  close(): Promise<void>;
}

/** An OpenID Connect provider on loopback: discovery, keys, code with PKCE, token, user info. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  let [published, hidden] = await Promise.all([newKey("one"), newKey("one")]);
  const codes = new Map<string, { challenge: string; nonce: string | null; redirectUrl: string }>();
  const asked: Record<string, number> = {};
  let clientProvedBy: string | null = null;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "", "http://x").pathname;
    asked[path] = (asked[path] ?? 0) + 1;
    answer(request, response, path).catch(() => response.writeHead(500).end());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: IdentityProvider = {
    issuer,
    script: { subject: "1", claims: {} },
    asked,
    get clientProvedBy() {
      return clientProvedBy;
    },
    visit(location) {
      const url = new URL(location);
      const get = (name: string) => url.searchParams.get(name);
      if (get("client_id") !== clientId || get("response_type") !== "code" || get("code_challenge_method") !== "S256") {
        throw new Error(`not a request of ours: ${location}`);
      }
      const code = randomBytes(8).toString("hex");
      const redirectUrl = get("redirect_uri") ?? "";
      codes.set(code, { challenge: get("code_challenge") ?? "", nonce: get("nonce"), redirectUrl });
      const back = new URL(redirectUrl);
      back.searchParams.set("code", code);
      back.searchParams.set("state", get("state") ?? "");
      return back;
    },
    async rotateKey() {
      published = await newKey("two");
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };

  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const send = (body: unknown, status = 200) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    switch (path) {
      case "/.well-known/openid-configuration":
        return void send({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/keys`,
          id_token_signing_alg_values_supported: ["ES256", "HS256", "none"],
          ...provider.script.discovery,
        });
      case "/authorize": {
        const location = provider.visit(issuer + request.url).href;
        return void response.writeHead(302, { location }).end();
      }
      case "/keys":
        return void send({ keys: [published.jwk] });
      case "/token":
        return void (await redeem(request).then(send, () => send({ error: "invalid_grant" }, 400)));
      case "/userinfo":
        return void send({ sub: provider.script.subject, ...provider.script.userInfo });
      default:
        return void send({}, 404);
    }
  }

  async function redeem(request: IncomingMessage): Promise<unknown> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const basic = `Basic ${Buffer.from(`${encodeForm(clientId)}:${encodeForm(clientSecret)}`).toString("base64")}`;
    const isPosted = form.get("client_id") === clientId && form.get("client_secret") === clientSecret;
    if (!isPosted && request.headers.authorization !== basic) throw new Error("client");
    clientProvedBy = isPosted ? "client_secret_post" : "client_secret_basic";
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (code?.challenge !== challenge || code.redirectUrl !== form.get("redirect_uri")) throw new Error("code");
    const { script } = provider;
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: clientId, sub: script.subject, iat: now, exp: now + 300, nonce: code.nonce };
    const whole = { ...claims, ...script.claims } as JWTPayload;
    const { privateKey, jwk } = script.isForged ? hidden : published;
    const signed = script.alter?.(whole) ?? whole;
    const idToken = script.sign
      ? await script.sign(signed)
      : await new SignJWT(signed).setProtectedHeader({ alg: "ES256", kid: String(jwk.kid) }).sign(privateKey);
    return { access_token: "token", token_type: "Bearer", id_token: idToken };
  }
  return provider;
}

async function newKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}

function encodeForm(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}
