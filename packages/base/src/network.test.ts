import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createProxy, type Server } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serveGit } from "@emend/testkit/git-http-server.ts";
import { makeRepository } from "@emend/testkit/make-repository.ts";
import { createGit } from "@emend/tree";
import { Type } from "typebox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApiClient } from "../../forges/src/api-client.ts";
import { resolveBranch } from "../../tree/src/mirror/resolve-base.ts";
import { createFetch, type Network } from "./network.ts";

const { signal } = new AbortController();
const dir = mkdtempSync(join(tmpdir(), "emend-network-"));
/** A self-signed certificate for these tests, valid for a hundred years. */
const certificates = new URL("../../testkit/src/certificates/", import.meta.url);
const caFile = fileURLToPath(new URL("localhost.cert.pem", certificates));
const tunnels: string[] = [];
let secure: Server;
let proxy: Server;
let url: string;
let proxyUrl: string;

beforeAll(async () => {
  const repository = makeRepository(join(dir, "root/acme/docs.git"));
  repository.commit({ "a.md": "A\n" });
  secure = createServer(
    { key: readFileSync(new URL("localhost.key.pem", certificates)), cert: readFileSync(caFile) },
    (request, response) => {
      if (request.url === "/moved") return response.writeHead(307, { location: "/x" }).end();
      if (request.url?.startsWith("/acme/")) return serveGit(join(dir, "root"), request, response);
      response.setHeader("content-type", "application/json").end('{"ok":true}');
    },
  );
  proxy = createProxy();
  proxy.on("connect", (request, client) => {
    tunnels.push(request.url ?? "");
    const target = connect(Number(request.url?.split(":")[1]), "localhost", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(client).pipe(target);
    });
    for (const end of [target, client]) end.on("error", () => {});
  });
  for (const server of [secure, proxy]) await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  url = `https://localhost:${(secure.address() as AddressInfo).port}`;
  proxyUrl = `http://localhost:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  for (const server of [secure, proxy]) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(dir, { recursive: true, force: true });
});

async function ask(network: Network): Promise<unknown> {
  const { fetch, close } = createFetch(network);
  const api = createApiClient({ fetch, forge: "The forge", apiUrl: url, authorization: async () => null });
  const answer = Type.Object({ ok: Type.Boolean() });
  return api.call({ method: "GET", path: "/x", answer, what: "ask" }, signal).finally(close);
}
const branch = (network: Network) =>
  resolveBranch(
    createGit({ network }),
    { remote: { url: `${url}/acme/docs.git`, authorization: null }, branch: "main" },
    signal,
  );

it("trusts a private authority where its file is named, and says what to set where not", async () => {
  await expect(ask({})).rejects.toMatchObject({
    code: "forge_rejected",
    publicMessage: expect.stringMatching(/certificate is not trusted.*EMEND_CA_FILE/),
  });
  expect(await ask({ caFile })).toEqual({ ok: true });
  await expect(branch({})).rejects.toMatchObject({
    code: "repository_unavailable",
    retryable: false,
    publicMessage: expect.stringMatching(/certificate is not trusted.*EMEND_CA_FILE/),
  });
  expect(await branch({ caFile })).toMatch(/^[0-9a-f]{40}$/);
});

it("follows no redirect, though its caller would: keys stay with whom they were given for", async () => {
  const { fetch, close } = createFetch({ caFile });
  const init = { method: "POST", headers: { "x-api-key": "k" }, body: "{}", redirect: "follow" as "manual", signal };
  expect((await fetch(`${url}/moved`, init)).status).toBe(307);
  await close();
});

it("goes through the proxy, git included, except to hosts that need none", async () => {
  tunnels.length = 0;
  expect(await ask({ caFile, httpsProxy: proxyUrl })).toEqual({ ok: true });
  expect(tunnels).toHaveLength(1);
  expect(await branch({ caFile, httpsProxy: proxyUrl })).toMatch(/^[0-9a-f]{40}$/);
  expect(tunnels).toHaveLength(2);
  expect(await ask({ caFile, httpsProxy: proxyUrl, noProxy: "localhost" })).toEqual({ ok: true });
  expect(await branch({ caFile, httpsProxy: proxyUrl, noProxy: "localhost" })).toMatch(/^[0-9a-f]{40}$/);
  expect(tunnels).toHaveLength(2);
});
