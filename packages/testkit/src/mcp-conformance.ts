// The protocol's official conformance suite as a judge, for servers and for clients.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ConformanceCheck {
  scenario: string;
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  words: string;
}

/** The package has a program and no entry to import. */
const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/dist/index.js");

/** Runs scenarios of the suite, a few at a time, and returns what it checked. */
export async function judgeConformance(
  kind: "server" | "client",
  scenarios: readonly string[],
  args: readonly string[],
): Promise<readonly ConformanceCheck[]> {
  const folder = await mkdtemp(join(tmpdir(), "emend-conformance-"));
  const rest = [...scenarios];
  const worker = async () => {
    for (let scenario = rest.shift(); scenario !== undefined; scenario = rest.shift()) {
      const given = [program, kind, "--scenario", scenario, ...args, "-o", join(folder, encodeURIComponent(scenario))];
      // A failed check is an exit code; what counts is in its file.
      await new Promise((resolve) => execFile(process.execPath, given, { maxBuffer: 2 ** 26 }, resolve));
    }
  };
  try {
    await Promise.all([worker(), worker(), worker()]);
    const judged = await Promise.all(scenarios.map((scenario) => readChecks(folder, scenario)));
    return judged.flat();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readChecks(folder: string, scenario: string): Promise<readonly ConformanceCheck[]> {
  const into = join(folder, encodeURIComponent(scenario));
  const names = await readdir(into, { recursive: true });
  const file = names.find((name) => name.endsWith("checks.json"));
  if (file === undefined) throw new Error(`the conformance suite wrote no checks for ${scenario}`);
  const checks = JSON.parse(await readFile(join(into, file), "utf8")) as {
    id: string;
    status: ConformanceCheck["status"];
    errorMessage?: string;
    description?: string;
  }[];
  return checks.map(({ id, status, errorMessage, description }) => {
    return { scenario, id, status, words: errorMessage ?? description ?? "" };
  });
}

/** The suite sends no key: this adds one to each request. */
export async function startKeyProxy(to: string, key: string): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port } = new URL(to);
  const proxy = createServer((incoming, response) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const { method, url: path } = incoming;
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    url,
    async stop() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
