import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { type FarModel, startFarModel } from "@emend/testkit/far-model.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { giteaVendor } from "@emend/testkit/forges/gitea.ts";
import { clientId, type IdentityProvider, startIdentityProvider } from "@emend/testkit/identity-provider.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@emend/testkit/webhook-receiver.ts";
import { clientOf, createInstallation, type Installation } from "@emend/testkit/whole-server.ts";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, expect, test } from "vitest";

const pem = (name: string) => new URL(`../../testkit/src/certificates/localhost.${name}.pem`, import.meta.url);
const identity = { key: readFileSync(pem("key")), cert: readFileSync(pem("cert")) };
const doors: ReturnType<typeof createServer>[] = [];

/** The same server behind TLS, with a certificate that only its own authority has signed. */
async function behindTls(url: string): Promise<string> {
  const { port } = new URL(url);
  const door = createServer(identity, (socket) => {
    const plain = connect(Number(port), "127.0.0.1");
    socket.pipe(plain).pipe(socket);
    for (const end of [socket, plain]) end.on("error", () => {});
  }).listen(0, "localhost");
  doors.push(door);
  await once(door, "listening");
  return `https://localhost:${(door.address() as AddressInfo).port}`;
}

let model: FarModel;
let forge: FarEnd;
let provider: IdentityProvider;
let receiver: WebhookReceiver;
let collector: HttpServer;
const traces: (string | undefined)[] = [];
let installation: Installation;
const mail = new SMTPServer({ ...identity, secure: true, authOptional: true });
let env: Record<string, string>;
beforeAll(async () => {
  model = await startFarModel((turn) =>
    turn === 0
      ? [["edit_file", { path: "guides/start.md", oldText: "API token", newText: "access key" }]]
      : [["finish", { title: "Say access key", summary: "It is called access key." }]],
  );
  forge = await startFarEnd(giteaVendor);
  forge.state.url = await behindTls(forge.url);
  provider = await startIdentityProvider();
  const issuer = await behindTls(provider.issuer);
  provider.script.discovery = { issuer, authorization_endpoint: `${issuer}/authorize` };
  receiver = await startWebhookReceiver();
  collector = createHttpServer((request, response) => {
    traces.push(request.url);
    request.resume();
    response.setHeader("content-type", "application/json").end("{}");
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  mail.listen(0, "localhost");
  await once(mail.server, "listening");
  env = {
    EMEND_MODEL: "compatible/llama-4",
    EMEND_COMPATIBLE_BASE_URL: `${await behindTls(model.environment.EMEND_COMPATIBLE_BASE_URL ?? "")}/v1`,
    EMEND_OIDC_ISSUER: issuer,
    EMEND_OIDC_CLIENT_ID: clientId,
    EMEND_OIDC_CLIENT_SECRET: "secret",
    EMEND_OIDC_DEFAULT_ROLE: "viewer",
    EMEND_SMTP_URL: `smtps://localhost:${(mail.server.address() as AddressInfo).port}`,
    EMEND_SMTP_FROM: "emend@acme.test",
    EMEND_ALLOW_PRIVATE_WEBHOOKS: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: await behindTls(`http://127.0.0.1:${(collector.address() as AddressInfo).port}`),
  };
  installation = await createInstallation({ ...env, EMEND_CA_FILE: fileURLToPath(pem("cert")) });
}, 60_000);
afterAll(async () => {
  await installation.remove();
  for (const door of doors) door.close();
  await new Promise<void>((closed) => mail.close(closed));
  receiver.close();
  collector.close();
  await provider.close();
  await forge.close();
  await model.stop();
});

test("forges, git, models, webhooks, email, single sign-on and traces trust the authority of EMEND_CA_FILE", async () => {
  const server = await installation.start();
  const repo = `${forge.state.url}/${forge.state.path}`;
  const project = await server.admin.addProject({
    ...{ name: "Docs", forge: "gitea", repo, credential: forge.token },
    settings: { secondReader: false },
  });
  await server.admin.carryOut("webhooks.add", {
    ...{ projectId: project.id, events: ["job.completed"] },
    url: `${await behindTls(receiver.url)}/hook`,
  });
  const { key } = await server.admin.createKey({ projectIds: [project.id], name: "test", scope: "write" });
  const client = clientOf(server, project.id, key);
  const { id } = await client.create({ prompt: "Say access key." });
  expect(await client.untilFinal(id), JSON.stringify(await client.run(id))).toMatchObject({ status: "completed" });
  expect(forge.state.pulls).toHaveLength(1);
  expect(forge.requests.map(({ operation }) => operation)).toContain("git git-receive-pack");
  expect(JSON.parse((await receiver.message(1)).body)).toMatchObject({ type: "job.completed" });
  const there = await fetch(`${server.url}/dashboard/api/auth/single-sign-on`, { redirect: "manual" });
  expect(there.headers.get("location")).toMatch(new RegExp(`^${env.EMEND_OIDC_ISSUER}/authorize`));
  expect(await server.admin.tryServices()).toMatchObject({ email: { problem: null } });
  // Stopping sends the rest of the spans.
  await server.stop();
  expect(traces).toContain("/v1/traces");
}, 120_000);
