import { createFetch } from "@emend/base/network.ts";
import { createSealer } from "../../server/src/accounts/secrets.ts";
import { createSaml } from "../../server/src/accounts/single-sign-on/saml.ts";
import type { SingleSignOn } from "../../server/src/accounts/single-sign-on/single-sign-on.ts";
import type { Pool } from "../../server/src/db/pool.ts";
import type { ApiAnswer } from "./api.ts";
import { type DashboardApi, startDashboard } from "./dashboard.ts";
import { type SamlProvider, type SamlScript, startSamlProvider } from "./saml-provider.ts";

export const publicUrl = "https://emend.test/base";
export const acsUrl = `${publicUrl}/dashboard/api/auth/saml/acs`;
export const entityId = `${publicUrl}/dashboard/api/auth/saml/metadata`;
const sealer = createSealer("a secret of the tests, and of nothing else");

interface Landed {
  location: string;
  session: string | undefined;
  /** What the login page says. */
  words: string | null;
}

interface SamlDashboard {
  host: DashboardApi;
  provider: SamlProvider;
  /** Another node of the installation. */
  node(): SingleSignOn;
  script(more: Partial<SamlScript>): void;
  start(to?: string): Promise<{ location: string; cookie: string; whole: string }>;
  post(SAMLResponse: string, more?: Record<string, string>): Promise<{ answer: ApiAnswer; location: string }>;
  arrive(location: string, cookie: string | null): Promise<Landed>;
  wordsOf(location: string): Promise<string | null>;
  logIn(to?: string): Promise<Landed>;
  /** Everybody but the owner. */
  members(): Promise<string[]>;
  /** Only the owner remains, and the provider says Ada. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** A dashboard with a SAML provider, and a browser that goes there and back. */
export async function startSamlDashboard(): Promise<SamlDashboard> {
  const network = createFetch({});
  const provider = await startSamlProvider();
  const samlOf = (pool: Pool) =>
    createSaml(
      { fetch: network.fetch, sealer, pool, publicUrl: () => publicUrl },
      {
        source: { kind: "url", url: provider.metadataUrl },
        name: "Example ID",
        domains: ["example.com"],
        defaultRole: "viewer",
      },
    );
  const host = await startDashboard({ singleSignOnFor: samlOf });
  provider.meet((await host.send("/auth/saml/metadata", { cookie: null })).body);

  async function wordsOf(location: string): Promise<string | null> {
    const problem = URL.parse(location)?.searchParams.get("problem");
    return problem ? (await host.send(`/auth?problem=${problem}`, { cookie: null })).json().problem : null;
  }

  const dashboard: SamlDashboard = {
    host,
    provider,
    wordsOf,
    node: () => samlOf(host.api.pool),
    script(more) {
      provider.script = { ...provider.usual, attributes: { email: "ada@example.com", displayName: "Ada" }, ...more };
    },
    async start(to = "") {
      const left = await host.send(`/auth/single-sign-on?to=${to}`, { cookie: null });
      const [whole = ""] = [left.headers["set-cookie"] ?? []].flat();
      return { location: String(left.headers.location), cookie: whole.split(";", 1)[0] ?? "", whole };
    },
    /** As the provider's form does in a browser: from another site, so without cookies. */
    async post(SAMLResponse, more = {}) {
      const answer = await host.api.send("/dashboard/api/auth/saml/acs", {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          origin: new URL(provider.entityId).origin,
          "sec-fetch-site": "cross-site",
        },
        body: new URLSearchParams({ SAMLResponse, ...more }).toString(),
      });
      return { answer, location: String(answer.headers.location) };
    },
    async arrive(location, cookie) {
      const url = new URL(location);
      if (!url.searchParams.has("arrival")) return { location, session: undefined, words: await wordsOf(location) };
      const answer = await host.send(`/auth/single-sign-on/return${url.search}`, { cookie });
      const cookies = [answer.headers["set-cookie"] ?? []].flat().map((each) => each.split(";", 1)[0] ?? "");
      const to = String(answer.headers.location);
      const session = cookies.find((each) => each.startsWith("__Host-emend="));
      return { location: to, session, words: await wordsOf(to) };
    },
    async logIn(to = "") {
      const { location, cookie } = await dashboard.start(to);
      const { SAMLResponse } = await provider.visit(location);
      return dashboard.arrive((await dashboard.post(SAMLResponse)).location, cookie);
    },
    async members() {
      const { rows } = await host.api.pool.query<{ line: string }>(
        "select email || ' ' || role as line from users where id <> 'usr_owner' order by 1",
      );
      return rows.map(({ line }) => line);
    },
    async reset() {
      for (const table of ["users", "login_links", "audit_log", "removed_members"])
        await host.api.pool.query(`delete from ${table}`);
      await host.api.pool.query("insert into users values ('usr_owner', 'owner@emend.test', 'Owner', 'owner', null)");
      dashboard.script({});
    },
    async close() {
      await host.close();
      await network.close();
      await provider.close();
    },
  };
  return dashboard;
}
