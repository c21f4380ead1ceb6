import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

/**
 * The conformance suite against a real forge: `npm run test:forge -- --forge gitea --url https://git.acme.test/acme/sandbox
 * --token-env GITEA_TOKEN`. The repository must have a first commit; the suite makes branches, pull requests and comments in it
 * and closes and deletes what it made. With `--slow 14` it publishes instead, through a proxy that makes every write to the
 * forge take 14 s, before its effect and after it: each job must end with one pull request.
 */
const { values } = parseArgs({
  options: {
    forge: { type: "string" },
    url: { type: "string" },
    "api-url": { type: "string" },
    "token-env": { type: "string" },
    slow: { type: "string" },
  },
});
const variable = values["token-env"] ?? "";
const env = {
  EMEND_TEST_FORGE: values.forge ?? "",
  EMEND_TEST_FORGE_URL: values.url ?? "",
  EMEND_TEST_FORGE_API_URL: values["api-url"] ?? "",
  EMEND_TEST_FORGE_TOKEN: process.env[variable] ?? "",
  EMEND_TEST_FORGE_SLOW: values.slow ?? "",
};
if (!env.EMEND_TEST_FORGE || !env.EMEND_TEST_FORGE_URL || !env.EMEND_TEST_FORGE_TOKEN) {
  const usage =
    "npm run test:forge -- --forge github|gitlab|gitea|bitbucket|azure-devops --url REPOSITORY --token-env VARIABLE [--api-url URL] [--slow SECONDS]";
  console.error(`Usage: ${usage}\nThe variable must hold a token that may push, open and merge in the repository.`);
  process.exit(2);
}
const vitest = ["node_modules/vitest/vitest.mjs", "run", "packages/server/test/real-forge.wide.test.ts"];
const { status } = spawnSync(process.execPath, vitest, { stdio: "inherit", env: { ...process.env, ...env } });
process.exit(status ?? 1);
