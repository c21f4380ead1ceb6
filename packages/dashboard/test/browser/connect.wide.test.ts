// Costly: consent is a page between two redirects, which only a browser follows with its cookies.
import { listen } from "@emend/testkit/listen.ts";
import { authorityFile, authorizationRequest, startProgramHost } from "@emend/testkit/oauth-program.ts";
import { afterAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { expectFitting, expectGood } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";

const host = await startProgramHost();
afterAll(() => host.close());
const dashboard = openDashboard({ EMEND_CA_FILE: authorityFile, EMEND_ALLOW_PRIVATE_PROGRAMS: "true" });
const owner = { email: "ada@example.com", password: "correct horse battery" };

journey("connects a program after the login, by the keyboard alone, and revokes it", async (look) => {
  dashboard.expectComplaint(/401/);
  await dashboard.reset();
  await dashboard.addSample("Sample");
  const link = (await dashboard.server.admin.ownerLink({ isNew: true })) ?? "";
  const headers = { origin: dashboard.url, "content-type": "application/json" };
  const body = JSON.stringify({ token: link.slice(link.lastIndexOf("/") + 1), name: "Ada", ...owner });
  await fetch(`${dashboard.url}/dashboard/api/auth/accept`, { method: "POST", headers, body });

  const returned: string[] = [];
  const program = await listen((request, response) => {
    returned.push(request.url ?? "");
    response.setHeader("content-type", "text/html").end("<title>Back</title><h1>You can close this page.</h1>");
  });
  dashboard.expectComplaint(new RegExp(`^${program.url}/`));
  const name = "Sample <b>Agent</b>";
  const { url } = authorizationRequest(dashboard.url, host.add({ client_name: name }), {
    redirect_uri: `${program.url}/callback`,
  });
  const page = await dashboard.visit(look);
  await page.goto(url);
  await type(page.getByLabel("Email address"), owner.email);
  await type(page.getByLabel("Password"), owner.password);
  await page.keyboard.press("Enter");

  await page.getByRole("heading", { name: "Connect a program" }).waitFor();
  await page.getByText(name).waitFor();
  await page.getByText(new URL(program.url).host).waitFor();
  await expectGood(page);
  await choose(page.getByLabel("Access", { exact: true }), "read only");
  await press(page.getByRole("button", { name: "Connect", exact: true }));
  await page.getByText("You can close this page.").waitFor();
  expect(returned[0]).toMatch(/^\/callback\?code=[\w-]+&state=/);

  await page.goto(`${dashboard.url}/app/keys`);
  const row = page.getByRole("listitem").filter({ hasText: name });
  await row.getByText(/connected from localhost:\d+/).waitFor();
  await expectFitting(page);
  expect(await row.getByRole("button", { name: "Rotate" }).count()).toBe(0);
  await press(row.getByRole("button", { name: "Revoke" }));
  await press(page.getByRole("button", { name: "Revoke key" }));
  await page.getByText("1 revoked or expired").waitFor();
  await program.stop();
});
