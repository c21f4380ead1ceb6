// npm run test:deploy [-- package proxies cells] follows docs/deploy.md on this machine, with real programs and downloads.
// Not part of npm test, which covers the cheap half.
import { type ChildProcess, execFile, type SpawnSyncOptions, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, type RequestOptions, request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { startServer } from "../packages/server/src/compose/compose.ts";
import { loadConfig } from "../packages/server/src/config/config.ts";

const root = dirname(import.meta.dirname);
const nobody = 65534;
const parts: Record<string, (dir: string) => Promise<void>> = {
  package: tryPackage,
  proxies: tryProxies,
  cells: tryCells,
};

/** Builds, packs, installs into a home folder and runs the demo, without root and with an empty npm cache. */
async function tryPackage(dir: string): Promise<void> {
  run("npm", ["run", "build"], { cwd: root });
  run("npm", ["pack", "--silent", "--pack-destination", dir, "./packages/cli/dist"], { cwd: root });
  const [tarball = ""] = (await readdir(dir)).filter((name) => name.endsWith(".tgz"));
  const home = join(dir, "home");
  const bin = join(home, ".local", "bin");
  await mkdir(bin, { recursive: true });
  // This script's Node may be in a folder that other users cannot enter.
  await copyFile(process.execPath, join(dir, "node"));
  const person: SpawnSyncOptions = {
    cwd: home,
    env: { ...foreign(process.env), HOME: home, PATH: `${bin}:${dir}:${process.env.PATH}`, TMPDIR: home },
  };
  if (process.getuid?.() === 0) {
    for (const path of [home, join(home, ".local"), bin]) await chown(path, nobody, nobody);
    Object.assign(person, { uid: nobody, gid: nobody });
  }
  run("npm", ["install", "--global", "--prefix", join(home, ".local"), join(dir, tarball)], person);
  run("emend", ["--version"], person);
  const { status, prLink } = JSON.parse(run("emend", ["demo", "--json"], person));
  if (status !== "completed" || !prLink) throw new Error(`The demo ended as ${status} without a pull request.`);
  console.log(`  pull request ${prLink}`);
}

/** The machine's environment (proxies, certificates), without npm's and Emend's variables. */
function foreign(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|EMEND_|XDG_|INIT_CWD)/i.test(name)));
}

function run(program: string, args: string[], options: SpawnSyncOptions): string {
  console.log(`  $ ${program} ${args.join(" ")}`);
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    ...options,
    encoding: "utf8",
    timeout: 600_000,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${stdout}${stderr}`);
  return String(stdout);
}

// Starts each sample of deploy/proxy on loopback in front of a real server. Only names, ports and the certificate are
// replaced.

const samples = join(root, "deploy/proxy");
const proxies = { nginx: startNginx, caddy: startCaddy };
const pushBytes = 5 * 1024 * 1024;

interface Place {
  dir: string;
  /** The proxy's ports for TLS and plain HTTP. */
  port: number;
  plainPort: number;
  serverPort: number;
}

/** Reports proxies that are not installed, and fails if an installed one misbehaves. */
async function tryProxies(dir: string): Promise<void> {
  await makeCertificate(dir);
  for (const [name, start] of Object.entries(proxies)) {
    if (spawnSync(name, [name === "nginx" ? "-v" : "version"]).error) {
      console.log(`  ${name}: NOT RUN, it is not installed`);
      continue;
    }
    const own = join(dir, name);
    await mkdir(own);
    const [port = 0, plainPort = 0, serverPort = 0] = await freePorts(3);
    const place = { dir: own, port, plainPort, serverPort };
    const proxy = await start(place, dir);
    try {
      await tryProxy(name, place, await readFile(join(dir, "cert.pem"), "utf8"));
    } finally {
      proxy.kill("SIGTERM");
      await once(proxy, "exit");
    }
  }
}

async function makeCertificate(dir: string): Promise<void> {
  await finish("openssl", [
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=DNS:localhost", "-keyout", join(dir, "key.pem"), "-out", join(dir, "cert.pem")],
  ]);
}

/** A client of the proxy. */
function createAsk(port: number, ca: string, agent: Agent) {
  return (path: string, options: RequestOptions & { body?: string } = {}) =>
    new Promise<{ status: number; first: string }>((resolve, reject) => {
      const { body, ...rest } = options;
      const sent = request({ host: "127.0.0.1", port, servername: "localhost", ca, agent, path, ...rest }, (answer) => {
        // Resolves with the first chunk while the response continues.
        answer.once("data", (chunk) => resolve({ status: answer.statusCode ?? 0, first: String(chunk) }));
        answer.once("end", () => resolve({ status: answer.statusCode ?? 0, first: "" }));
        answer.once("error", () => {});
        options.signal?.addEventListener("abort", () => answer.destroy());
      });
      sent.once("error", reject);
      sent.end(body);
    });
}

async function tryProxy(name: string, { dir, port, plainPort, serverPort }: Place, ca: string): Promise<void> {
  const publicUrl = `https://localhost:${port}`;
  const env = {
    EMEND_PUBLIC_URL: publicUrl,
    EMEND_TRUST_PROXY: "127.0.0.1",
    EMEND_LOG_LEVEL: "warn",
    EMEND_SECRET: randomBytes(32).toString("hex"),
    PATH: process.env.PATH,
  };
  // Without workers the job below stays active, and its event stream open.
  const config = {
    ...loadConfig(env, { dataDir: join(dir, "data"), port: serverPort, host: "127.0.0.1" }),
    role: "api" as const,
  };
  const server = await startServer(config, { logTo: process.stderr });
  const agent = new Agent({ keepAlive: false });
  const ask = createAsk(port, ca, agent);
  try {
    await untilAnswers(() => ask("/readyz", { headers: { host: `localhost:${port}` } }));
    const { id } = await server.admin.addProject({ name: "Docs", forge: "local" });
    const open = await server.admin.createKey({ projectIds: [id], name: "open", scope: "write" });
    const bound = { projectIds: [id], name: "bound", scope: "write", allowList: ["127.0.0.2"] } as const;
    const near = await server.admin.createKey(bound);
    const headersOf = (key: string) => ({
      host: `localhost:${port}`,
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
    });

    // 1. A push of several megabytes.
    const work = join(dir, "work");
    const git = (...args: string[]) =>
      finish("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
        cwd: work,
        env: {
          PATH: process.env.PATH,
          HOME: dir,
          GIT_SSL_CAINFO: join(dirname(dir), "cert.pem"),
          GIT_TERMINAL_PROMPT: "0",
        },
      });
    await mkdir(work);
    await writeFile(join(work, "index.md"), "# Docs\n");
    await writeFile(join(work, "picture.bin"), randomBytes(pushBytes));
    await git("init", "--quiet", "--initial-branch", "main");
    await git("add", ".");
    await git("commit", "--quiet", "-m", "Docs");
    await git("push", "--quiet", `https://emend:${open.key}@localhost:${port}/git/${id}.git`, "main");
    console.log(`  ${name}: ✓ a git push of ${pushBytes / 2 ** 20} MiB`);

    // 2. An event stream tells its first event while it stays open.
    const created = await ask(`/v2/agent/${id}/job`, {
      method: "POST",
      headers: headersOf(open.key),
      body: JSON.stringify({ prompt: "Fix broken links." }),
    });
    const job = JSON.parse(created.first) as { id: string; status: string };
    expectThat(job.status === "active", `create answered ${created.status}: ${created.first}`);
    const watching = new AbortController();
    const events = await ask(`/v2/agent/${id}/job/${job.id}/events`, {
      headers: headersOf(open.key),
      signal: AbortSignal.any([watching.signal, AbortSignal.timeout(20_000)]),
    });
    watching.abort();
    expectThat(events.first.startsWith("retry: "), `the event stream began with ${JSON.stringify(events.first)}`);
    console.log(`  ${name}: ✓ events come while the stream is open`);

    // 3. The client's address, and none that the client makes up.
    const path = `/v2/agent/${id}/job/${job.id}`;
    const statusFrom = async (localAddress: string, more: Record<string, string> = {}) =>
      (await ask(path, { localAddress, headers: { ...headersOf(near.key), ...more } })).status;
    const seen = [
      await statusFrom("127.0.0.2"),
      await statusFrom("127.0.0.3"),
      await statusFrom("127.0.0.3", { "x-forwarded-for": "127.0.0.2" }),
    ];
    expectThat(seen[0] === 200 && seen[1] !== 200 && seen[2] !== 200, `addresses were judged as ${seen.join(", ")}`);
    console.log(`  ${name}: ✓ the client's address arrives, and a made-up one does not`);

    // 4. Plain HTTP leads to TLS.
    const plain = await fetch(`http://localhost:${plainPort}/app`, { redirect: "manual" });
    const to = plain.headers.get("location");
    expectThat([301, 308].includes(plain.status), `plain HTTP answered ${plain.status}`);
    // Caddy takes its https_port as a port behind a public 443, so it never names it.
    const address = name === "caddy" ? "https://localhost/app" : `https://localhost:${port}/app`;
    expectThat(to === address, `plain HTTP is sent to ${to}`);
    console.log(`  ${name}: ✓ plain HTTP is sent to https, to the same page`);
  } finally {
    agent.destroy();
    await server.stop();
  }
}

async function startNginx({ dir, port, plainPort, serverPort }: Place, certDir: string): Promise<ChildProcess> {
  const sample = replaced(await readFile(join(samples, "nginx.conf"), "utf8"), {
    "listen 80;": `listen 127.0.0.1:${plainPort};`,
    "listen 443 ssl http2;": `listen 127.0.0.1:${port} ssl http2;`,
    "emend.example.com;": "localhost;",
    "https://emend.example.com$request_uri": `https://localhost:${port}$request_uri`,
    "/etc/letsencrypt/live/emend.example.com/fullchain.pem": join(certDir, "cert.pem"),
    "/etc/letsencrypt/live/emend.example.com/privkey.pem": join(certDir, "key.pem"),
    "127.0.0.1:4600": `127.0.0.1:${serverPort}`,
  });
  return runNginx(dir, sample);
}

async function runNginx(dir: string, sample: string): Promise<ChildProcess> {
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${dir}/${name};`,
  );
  const whole = `pid ${dir}/pid;\nerror_log ${dir}/error.log;\nevents {}\nhttp {\n${folders.join("\n")}\naccess_log off;\n${sample}}\n`;
  await writeFile(join(dir, "nginx.conf"), whole);
  const args = ["-p", dir, "-e", join(dir, "error.log"), "-c", join(dir, "nginx.conf")];
  await finish("nginx", [...args, "-t"]);
  return spawn("nginx", [...args, "-g", "daemon off;"], { stdio: "inherit" });
}

/** Two whole installations behind deploy/proxy/cells.conf. */
async function tryCells(dir: string): Promise<void> {
  if (spawnSync("nginx", ["-v"]).error) {
    console.log("  cells: NOT RUN, nginx is not installed");
    return;
  }
  await makeCertificate(dir);
  const [port = 0, ...serverPorts] = await freePorts(3);
  const names = ["a", "b"] as const;
  const cells = await Promise.all(
    names.map(async (name, index) => {
      const env = {
        EMEND_PUBLIC_URL: `https://${name}.emend.example.com`,
        EMEND_TRUST_PROXY: "127.0.0.1",
        EMEND_LOG_LEVEL: "warn",
        EMEND_SECRET: randomBytes(32).toString("hex"),
        PATH: process.env.PATH,
      };
      const own = { dataDir: join(dir, name), port: serverPorts[index] ?? 0, host: "127.0.0.1" };
      const server = await startServer({ ...loadConfig(env, own), role: "api" }, { logTo: process.stderr });
      const { id } = await server.admin.addProject({ name: "Docs", forge: "local" });
      const { key } = await server.admin.createKey({ projectIds: [id], name, scope: "write" });
      return { server, host: `${name}.emend.example.com`, project: id, key };
    }),
  );
  const [a, b] = cells as [(typeof cells)[number], (typeof cells)[number]];
  const map = join(dir, "emend-cells.map");
  await writeFile(map, `${b.project} cell_b;\n`);
  const sample = replaced(await readFile(join(samples, "cells.conf"), "utf8"), {
    "listen 443 ssl http2;": `listen 127.0.0.1:${port} ssl http2;`,
    "/etc/letsencrypt/live/emend.example.com/fullchain.pem": join(dir, "cert.pem"),
    "/etc/letsencrypt/live/emend.example.com/privkey.pem": join(dir, "key.pem"),
    "/etc/nginx/emend-cells.map": map,
    "127.0.0.1:4600": `127.0.0.1:${serverPorts[0]}`,
    "127.0.0.1:4700": `127.0.0.1:${serverPorts[1]}`,
  });
  const proxy = await runNginx(dir, sample);
  const agent = new Agent({ keepAlive: false });
  const ask = createAsk(port, await readFile(join(dir, "cert.pem"), "utf8"), agent);
  const common = "emend.example.com";
  const statusOf = async (path: string, { key }: { key: string }, host: string) =>
    (await ask(path, { headers: { host, authorization: `Bearer ${key}` } })).status;
  try {
    await untilAnswers(() => ask("/readyz", { headers: { host: common } }));
    const [jobA, jobB] = await Promise.all(
      cells.map(async ({ project, key }) => {
        const path = `/v2/agent/${project}/job`;
        const headers = { host: common, authorization: `Bearer ${key}`, "content-type": "application/json" };
        const answer = await ask(path, { method: "POST", headers, body: '{"prompt":"Fix broken links."}' });
        expectThat(answer.status === 201, `create answered ${answer.status}: ${answer.first}`);
        return `${path}/${JSON.parse(answer.first).id}`;
      }),
    );
    const seen = {
      "each at the common address": [await statusOf(jobA ?? "", a, common), await statusOf(jobB ?? "", b, common)],
      "each at its cell's address": [await statusOf(jobA ?? "", a, a.host), await statusOf(jobB ?? "", b, b.host)],
      "git of the second cell": [await statusOf(`/git/${b.project}.git/info/refs?service=git-upload-pack`, b, common)],
    };
    for (const [what, statuses] of Object.entries(seen)) {
      expectThat(
        statuses.every((status) => status === 200),
        `${what}: ${statuses.join(", ")}`,
      );
      console.log(`  cells: ✓ ${what}`);
    }
    const strange = [await statusOf(jobB ?? "", a, common), await statusOf(jobA ?? "", a, b.host)];
    expectThat(
      strange.every((status) => status === 401),
      `a key of another cell got ${strange.join(", ")}`,
    );
    const unknown = await statusOf("/v2/agent/prj_unknown/job/job_unknown", a, common);
    expectThat(unknown === 404, `an unknown project got ${unknown}`);
    console.log("  cells: ✓ a key works in its own cell only, and an unknown project is not found");
  } finally {
    agent.destroy();
    proxy.kill("SIGTERM");
    await once(proxy, "exit");
    for (const { server } of cells) await server.stop();
  }
}

async function startCaddy({ dir, port, plainPort, serverPort }: Place, certDir: string): Promise<ChildProcess> {
  const sample = replaced(await readFile(join(samples, "Caddyfile"), "utf8"), {
    "emend.example.com {": `localhost:${port} {\n\ttls ${certDir}/cert.pem ${certDir}/key.pem`,
    "127.0.0.1:4600": `127.0.0.1:${serverPort}`,
  });
  const options = `{\n\tadmin off\n\thttp_port ${plainPort}\n\thttps_port ${port}\n\tdefault_bind 127.0.0.1\n}\n`;
  const file = join(dir, "Caddyfile");
  await writeFile(file, options + sample);
  const env = { PATH: process.env.PATH, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir };
  await finish("caddy", ["validate", "--adapter", "caddyfile", "--config", file], { env });
  return spawn("caddy", ["run", "--adapter", "caddyfile", "--config", file], { env, stdio: "ignore" });
}

function replaced(text: string, by: Record<string, string>): string {
  return Object.entries(by).reduce((sofar, [from, to]) => {
    expectThat(sofar.includes(from), `the sample no longer has ${from}`);
    return sofar.replaceAll(from, to);
  }, text);
}

async function untilAnswers(ask: () => Promise<{ status: number }>): Promise<void> {
  const until = Date.now() + 20_000;
  for (;;) {
    const answer = await ask().catch((error: Error) => error);
    if (!(answer instanceof Error) && answer.status === 200) return;
    if (Date.now() > until) throw answer instanceof Error ? answer : new Error(`answered ${answer.status}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  for (const server of servers) server.close();
  return ports;
}

function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

/** Asynchronous: the server that it may contact is in this process. */
async function finish(
  program: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  await promisify(execFile)(program, args, { ...options, timeout: 60_000 });
}

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
for (const name of chosen) {
  const part = parts[name];
  if (!part) throw new Error(`Unknown part ${name}. Use ${Object.keys(parts).join(", ")}.`);
  console.log(name);
  const dir = await mkdtemp(join(tmpdir(), "emend-deploy-"));
  await chmod(dir, 0o755);
  try {
    await part(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
console.log("Everything worked.");
