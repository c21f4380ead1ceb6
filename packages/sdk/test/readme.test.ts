// Costly: the first example is true if it runs.
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Installation, startInstallation } from "../../cli/test/support/installation.ts";

// Runs the README's examples unchanged, one program after the other, against a real server.
const packageDir = join(import.meta.dirname, "..");
let emend: Installation;
let examples: string[];
beforeAll(async () => {
  const readme = await readFile(join(packageDir, "README.md"), "utf8");
  examples = [...readme.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);
  emend = await startInstallation();
});
afterAll(() => emend.stop());

async function run(code: string, env: Record<string, string> = {}): Promise<string> {
  // Plain JavaScript: the oldest Node that the client supports cannot strip types.
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", code];
  const options = { cwd: packageDir, env: { PATH: process.env.PATH, ...emend.env, ...env } };
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
}

function example(mark: string): string {
  const found = examples.find((code) => code.includes(mark));
  if (found === undefined) throw new Error(`no example with ${mark}`);
  return found;
}

test("the first example ends with the pull request's link", async () => {
  expect(await run(example("fix-links.mjs"))).toMatch(/http:\/\/127\.0\.0\.1:\d+\/\S+\/pull\/\d+\n$/);
});

test("every other example runs unchanged, after the lines that create its client", async () => {
  const client = example("fix-links.mjs").split("\n").slice(0, 4).join("\n");
  const rest = examples.filter((code) => !code.includes("fix-links.mjs") && !code.includes("verifyWebhook"));
  expect(rest.length).toBeGreaterThan(4);
  const body = rest.map((code) => `{\n${code.replace(/^import .*\n/gm, "")}\n}`).join("\n");
  const program = `${client.replace("{ Emend }", "{ Emend, EmendError }")}\nconst { id } = await jobs.create({ prompt: "Fix broken links." });\nawait jobs.wait(id);\n${body}`;
  expect(await run(program)).toContain("diff --git");
});

test("the webhook example accepts a delivery and refuses a forged one", async () => {
  const secret = `whsec_${Buffer.from("a secret of this test alone").toString("base64")}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const body = JSON.stringify({ type: "job.completed", timestamp: new Date().toISOString(), data: { id: "job_1" } });
  const signature = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
    .update(`msg_1.${timestamp}.${body}`)
    .digest("base64");
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  const post = (text: string) =>
    `console.log((await receive(new Request("http://127.0.0.1/", ${JSON.stringify({ method: "POST", headers, body: text })}))).status);`;
  const program = `${example("verifyWebhook")}\n${post(body)}\n${post(`${body} `)}`;
  expect(await run(program, { EMEND_WEBHOOK_SECRET: secret })).toMatch(/204\n[\s\S]*400\n$/);
});
