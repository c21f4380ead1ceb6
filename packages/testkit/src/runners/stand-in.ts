import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface StandIn {
  /** A PATH with the stand-in programs and the system's own. */
  path: string;
  dir: string;
  remove(): Promise<void>;
}

/** The helpers of a scripted program. Its script is the body of an async function. */
const prelude = `#!/usr/bin/env node
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import http from "node:http";
import net from "node:net";
const args = process.argv.slice(2);
const name = process.argv[1].split("/").at(-1).replace(/\\.mjs$/, "");
const prompt = fs.readFileSync(0, "utf8");
/** What an attempt gave: its value, or the error's code. */
const attempt = async (work) => { try { return await work(); } catch (error) { return error.code ?? error.message; } };
/** Where its model is and what to show there, found as the real program of this name finds it. */
const access = () => {
  if (name === "codex") {
    const said = (what) => JSON.parse(args.find((one) => one.startsWith("model_providers.emend." + what + "=")).split("=", 2)[1]);
    return { url: said("base_url"), path: "/responses", headers: { authorization: "Bearer " + process.env[said("env_key")] } };
  }
  if (name === "claude") return { url: process.env.ANTHROPIC_BASE_URL + "/v1", path: "/messages", headers: { "x-api-key": process.env.ANTHROPIC_API_KEY } };
  const { provider } = JSON.parse(fs.readFileSync(process.env.HOME + "/.config/opencode/opencode.json", "utf8"));
  const isOpenai = "openai" in provider;
  const headers = isOpenai ? { authorization: "Bearer " + process.env.OPENAI_API_KEY } : { "x-api-key": process.env.ANTHROPIC_API_KEY };
  return { url: Object.values(provider)[0].options.baseURL, path: isOpenai ? "/responses" : "/messages", headers };
};
/** The status and the words of an answer of the model's. */
const ask = (given = {}) => new Promise((resolve, reject) => {
  const { url, path, headers } = { ...access(), ...given };
  const asked = http.request(url + path, { method: "POST", headers: { "content-type": "application/json", ...headers } }, (far) => {
    let text = ""; far.on("data", (c) => (text += c)).on("end", () => resolve(far.statusCode + " " + text));
  });
  asked.on("error", reject);
  const words = [{ role: "user", content: "hi" }];
  const model = (args[args.indexOf("--model") + 1] ?? "").split("/").at(-1);
  asked.end(JSON.stringify({ ...(args.includes("--model") && { model }), [path === "/responses" ? "input" : "messages"]: words }));
});
/** The status of a tunnel through the proxy that the environment names. */
const tunnel = (target) => new Promise((resolve, reject) => {
  const proxy = new URL(process.env.HTTPS_PROXY);
  const asked = http.request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: target });
  asked.on("connect", (reply, socket) => { socket.destroy(); resolve(reply.statusCode); });
  asked.on("error", reject);
  asked.end();
});
const direct = (port, host) => new Promise((resolve, reject) => {
  const socket = net.connect(port, host, () => { socket.destroy(); resolve("connected"); });
  socket.on("error", reject);
});
/** Says it as the real program of this name would. */
const answer = (text) => {
  if (name === "claude") console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, result: text, total_cost_usd: 0.25, usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 7 } }));
  else if (name === "opencode") { for (const one of [{ type: "text", part: { text: "On it." } }, { type: "text", part: { text } }, { type: "step_finish", part: { cost: 0.25, tokens: { input: 10, output: 7, cache: { read: 5 } } } }]) console.log(JSON.stringify(one)); }
  else { console.error("thinking…"); console.log(text); }
};
`;

/** Stand-ins for the real programs: they behave like their non-interactive mode and run the script. */
export async function standIn(script: string): Promise<StandIn> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "emend-stand-in-")));
  await mkdir(join(dir, "bin"));
  for (const name of ["claude", "codex", "opencode"]) {
    // A real one is a symlink into its package.
    await writeFile(join(dir, "bin", name), `${prelude}\n${script}\n`, { mode: 0o755 });
  }
  await writeFile(join(dir, "bin", "package.json"), '{"type":"module"}\n');
  const node = process.execPath.slice(0, process.execPath.lastIndexOf("/"));
  return {
    path: `${join(dir, "bin")}:${node}:${process.env.PATH ?? ""}`,
    dir,
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
