import { readFileSync } from "node:fs";
import { startFarSlack } from "@emend/testkit/far-slack.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { openSlack, slackScopes } from "./slack.ts";

test("the manifest in the docs asks for the scopes that the calls need", () => {
  const page = readFileSync(new URL("../../../../docs/slack.md", import.meta.url), "utf8");
  const manifest = parse(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? "");
  expect(manifest.oauth_config.scopes.bot).toEqual([...slackScopes]);
  expect(manifest.settings.event_subscriptions.bot_events).toEqual([
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
  ]);
});

test("the doctor's check names missing scopes and tokens that Slack refuses", async () => {
  const slack = await startFarSlack();
  const { EMEND_SLACK_BOT_TOKEN: botToken = "", EMEND_SLACK_APP_TOKEN: appToken = "" } = slack.environment;
  const settings = { botToken, appToken, signingSecret: null, apiUrl: slack.environment.EMEND_SLACK_API_URL ?? "" };
  const problemsOf = async (changed: object) =>
    (await openSlack({ ...settings, ...changed }, { fetch })).findProblems();
  expect(await problemsOf({})).toEqual([]);
  expect(await problemsOf({ botToken: "xoxb-wrong" })).toEqual([
    expect.stringContaining("EMEND_SLACK_BOT_TOKEN: Slack refused auth.test: invalid_auth"),
  ]);
  expect(await problemsOf({ appToken: "xapp-wrong" })).toEqual([expect.stringContaining("EMEND_SLACK_APP_TOKEN")]);
  slack.scopes = slack.scopes.filter((scope) => scope !== "users:read.email");
  expect(await problemsOf({})).toEqual([expect.stringContaining("the app lacks users:read.email")]);
  await slack.stop();
});
