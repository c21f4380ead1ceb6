// Costly: signing in is a form that a browser posts from another site.
import { startSamlProvider } from "@emend/testkit/saml-provider.ts";
import { afterAll, beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { expectGood } from "./support/judge.ts";
import { press } from "./support/keyboard.ts";

const provider = await startSamlProvider();
const dashboard = openDashboard({
  EMEND_SAML_METADATA_URL: provider.metadataUrl,
  EMEND_SAML_NAME: "Acme",
  EMEND_SAML_DOMAINS: "example.com",
});
afterAll(() => provider.close());
beforeAll(async () => {
  await dashboard.installation.database.pool.query(
    "insert into users (id, email, name, role) values ('1', 'owner@example.com', 'Owner', 'owner')",
  );
  const metadata = await fetch(`${dashboard.url}/dashboard/api/auth/saml/metadata`);
  provider.meet(await metadata.text());
});

journey("SAML leads to the provider's site, and its form back to the page", async (look) => {
  dashboard.expectComplaint(/401/);
  dashboard.expectComplaint(/http:\/\/localhost/);
  const visitor = await dashboard.visit(look);
  const goThere = async () => {
    await visitor.goto(`${dashboard.url}/app/keys`);
    await press(visitor.getByRole("link", { name: "Continue with Acme" }));
    const form = visitor.getByRole("button", { name: "Continue as Ada" });
    await form.waitFor();
    expect(new URL(visitor.url()).hostname).toBe("localhost");
    await press(form);
  };

  provider.script = {
    ...provider.usual,
    nameId: look.name,
    format: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
  };
  await goThere();
  await visitor.getByText("its name ID for you is not persistent").waitFor();
  await expectGood(visitor);

  provider.script = { ...provider.usual, nameId: look.name, attributes: { email: `${look.name}@example.com` } };
  await goThere();
  await visitor.getByRole("heading", { name: "API keys" }).waitFor();
  expect(new URL(visitor.url()).pathname).toBe("/app/keys");
  await visitor.getByRole("link", { name: `Settings, ${look.name}@example.com` }).waitFor();
});

journey("owners see what to enter at the provider", async (look) => {
  const owner = await dashboard.logIn(look, "/app/settings?tab=installation");
  await owner.getByText(`${dashboard.url}/dashboard/api/auth/saml/acs`).waitFor();
  await owner.getByText(provider.metadataUrl).waitFor();
  await expectGood(owner);
  if (process.env.SHOT) await owner.screenshot({ path: process.env.SHOT, fullPage: true });
});
