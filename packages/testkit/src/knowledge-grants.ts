import { generateKeyPairSync } from "node:crypto";
import { errors, Provider } from "oidc-provider";
import { type FarKnowledge, type FarTool, startFarKnowledge } from "./knowledge-server.ts";
import { listen } from "./listen.ts";

export interface FarGrants {
  /** The knowledge server that takes this authorization server's tokens only. */
  knowledge: FarKnowledge;
  url: string;
  /** A person's browser: opens the address, agrees, and returns the address that it is sent back to. */
  agree(location: string): Promise<string>;
  /** How often tokens were asked for, by grant. */
  asked: { code: number; renewal: number };
  /** Ends all access, as a person would on the service's page. */
  revoke(): Promise<void>;
  /** The tokens given so far are refused; they can be renewed. */
  expire(): void;
  /** Answers 503 to requests for tokens. */
  isAway: boolean;
  stop(): Promise<void>;
}

/**
 * A knowledge server behind a real authorization server (`oidc-provider`): clients register themselves, tokens are for
 * this server, and the token that renews works once.
 */
export async function startFarGrants(tools: FarTool[], { livesSeconds = 3_600 } = {}): Promise<FarGrants> {
  const valid = new Set<string>();
  const grants: string[] = [];
  const asked = { code: 0, renewal: 0 };
  const far = { isAway: false };
  const front = await listen((request, response) => {
    if (far.isAway && request.url === "/token") response.writeHead(503).end("try later");
    else if (request.url?.startsWith("/agree/")) void agreeTo(request, response);
    else void provider.callback()(request, response);
  });
  const knowledge = await startFarKnowledge(tools, {
    token: (given) => valid.has(given),
    challenge: () => `Bearer resource_metadata="${knowledge.url.replace("/mcp", "/about")}", scope="read"`,
    files: {
      "/about": () => ({ resource: knowledge.url, authorization_servers: [front.url], scopes_supported: ["read"] }),
    },
  });
  const resource = knowledge.url;
  const provider = new Provider(front.url, {
    jwks: { keys: [generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }) as never] },
    scopes: ["read"],
    responseTypes: ["code"],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clients: [
      {
        client_id: "registered-by-hand",
        client_secret: "secret-of-the-client-0123456789",
        redirect_uris: ["http://127.0.0.1/knowledge/return"],
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_ctx, wanted) {
          if (wanted !== resource) throw new errors.InvalidTarget("not here");
          return { scope: "read", accessTokenFormat: "opaque", accessTokenTTL: livesSeconds };
        },
      },
    },
    pkce: { required: () => true },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    interactions: { url: (_ctx, { uid }) => `${front.url}/agree/${uid}` },
    findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    cookies: { keys: ["far"] },
  });

  async function agreeTo(...[request, response]: Parameters<Parameters<typeof listen>[0]>) {
    const { params } = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({ accountId: "ada", clientId: String(params.client_id) });
    grant.addResourceScope(resource, "read");
    grant.addOIDCScope("read");
    const grantId = await grant.save();
    grants.push(grantId);
    await provider.interactionFinished(request, response, { login: { accountId: "ada" }, consent: { grantId } });
  }

  provider.on("access_token.saved", ({ jti }) => void valid.add(jti));
  provider.on("grant.success", ({ oidc }) => {
    asked[oidc.params?.grant_type === "refresh_token" ? "renewal" : "code"] += 1;
  });

  return {
    knowledge,
    url: front.url,
    asked,
    async agree(location) {
      const jar = new Map<string, string>();
      let at = location;
      for (let hop = 0; hop < 10 && at.startsWith(front.url); hop += 1) {
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
        const answer = await fetch(at, { redirect: "manual", headers: { cookie } });
        for (const one of answer.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
          jar.set(name, value);
        }
        const next = answer.headers.get("location");
        if (next === null) throw new Error(`the far server showed a page: ${answer.status} ${await answer.text()}`);
        at = new URL(next, at).href;
      }
      return at;
    },
    async revoke() {
      valid.clear();
      const kinds = [provider.AccessToken, provider.RefreshToken, provider.AuthorizationCode];
      for (const id of grants.splice(0)) await Promise.all(kinds.map((kind) => kind.revokeByGrantId(id)));
    },
    expire: () => valid.clear(),
    get isAway() {
      return far.isAway;
    },
    set isAway(value) {
      far.isAway = value;
    },
    async stop() {
      await knowledge.stop();
      await front.stop();
    },
  };
}
