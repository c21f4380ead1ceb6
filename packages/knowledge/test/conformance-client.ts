// The client that the conformance suite starts with the address of its server: asks which tools there are, connects by
// OAuth if it is refused, and calls each tool once.
import { askForGrant, type KnowledgeGrant, openKnowledgeServer, redeemCode } from "../src/index.ts";

const url = process.argv.at(-1) ?? "";
const signal = AbortSignal.timeout(25_000);
// The suite's own, which its authorization server expects.
const client = {
  returnUrl: "http://localhost:3000/callback",
  url: "https://conformance-test.local/client-metadata.json",
};
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as Record<string, string | undefined>;
const registered =
  context.client_id === undefined ? undefined : { id: context.client_id, secret: context.client_secret ?? null };

async function connect(): Promise<KnowledgeGrant> {
  const input = { url, fetch: globalThis.fetch, client };
  const { grant, location } = await askForGrant({ ...input, state: "state", registered });
  const answer = await fetch(location, { redirect: "manual" });
  const { searchParams } = new URL(answer.headers.get("location") ?? "", url);
  const [code, issuer] = [searchParams.get("code") ?? "", searchParams.get("iss") ?? undefined];
  return redeemCode({ ...input, grant, code, issuer });
}

let grant: KnowledgeGrant | null = null;
const token = async (refused?: string) => {
  if (refused !== undefined) grant = await connect();
  return grant?.tokens?.access_token ?? null;
};
const open = () => openKnowledgeServer({ place: { kind: "address", url, token, fetch: globalThis.fetch } }, signal);
const server = await open().catch(async (error: Error) => {
  if (!error.message.includes("401") || grant) throw error;
  grant = await connect();
  return open();
});
for (const { name, inputSchema } of await server.tools(signal)) {
  const { properties = {} } = inputSchema as { properties?: Record<string, { type?: string }> };
  const values = Object.entries(properties).map(([key, { type }]) => [key, type === "string" ? "text" : 1]);
  await server.call(name, Object.fromEntries(values), signal);
}
await server.close();
