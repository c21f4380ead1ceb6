// Runs inside the sandbox, and imports nothing of ours. Runs the samples of a page, one after another in the same folder,
// and prints what came of each.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { answers, startService, stop } from "./service.ts";

interface Order {
  /** A command that serves what the samples ask. */
  service: string | null;
  samples: { language: string; code: string }[];
}

interface Result {
  /** Null: it did not end, or could not start. */
  code: number | null;
  output: string;
  /** Why there is no code. */
  words: string;
}

const order: Order = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const sampleMs = 60_000;
const outputMax = 64 * 1024;
const folder = "/tmp/emend-samples";

const programs: Record<string, { name: string; args: (file: string) => string[]; end: string }> = {
  shell: { name: "sh", args: (file) => [file], end: "sh" },
  bash: { name: "bash", args: (file) => [file], end: "sh" },
  javascript: { name: "node", args: (file) => [file], end: "mjs" },
  typescript: { name: "node", args: (file) => ["--no-warnings", file], end: "mts" },
  python: { name: "python3", args: (file) => [file], end: "py" },
  go: { name: "go", args: (file) => ["run", file], end: "go" },
};

function run(command: string, args: string[], ms: number): Promise<Result> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  const keep = (chunk: Buffer) => {
    if (output.length < outputMax) output += chunk.toString().slice(0, outputMax - output.length);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      stop(child);
      resolve({ code: null, output, words: `did not end within ${ms / 1000} s` });
    }, ms);
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const words = error.code === "ENOENT" ? `needs ${command}, which this server does not have` : error.message;
      resolve({ code: null, output, words });
    });
    // Not `close`: a process that stays in the background holds the output open.
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      setImmediate(() => resolve({ code: code ?? 1, output, words: signal ? `was ended by ${signal}` : "" }));
    });
  });
}

/** `METHOD address`, headers, an empty line, and a body. */
async function ask(text: string): Promise<Result> {
  const [head = "", ...rest] = text.trim().split(/\r?\n\r?\n/);
  const [first = "", ...lines] = head.split(/\r?\n/);
  const [method = "GET", target = ""] = first.trim().split(/\s+/);
  const headers = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(":")).trim(),
    line.slice(line.indexOf(":") + 1).trim(),
  ]);
  const host = headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? "localhost";
  const url = new URL(target, `http://${host}`);
  if (!(await answers(url, order.service !== null)))
    return { code: null, output: "", words: `nothing answers at ${url.host}` };
  const body = rest.join("\n\n");
  const response = await fetch(url, {
    method,
    headers: headers.filter(([name]) => name.toLowerCase() !== "host"),
    redirect: "manual",
    signal: AbortSignal.timeout(sampleMs),
    ...(body !== "" && { body }),
  });
  const answer = (await response.text()).slice(0, outputMax);
  return { code: 0, output: `HTTP/1.1 ${response.status} ${response.statusText}\n\n${answer}`, words: "" };
}

async function runAll(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const service = order.service === null ? null : startService(order.service);
  const results: Result[] = [];
  for (const [index, { language, code }] of order.samples.entries()) {
    const program = programs[language];
    if (!program) {
      results.push(await ask(code).catch((error: Error) => ({ code: 1, output: "", words: error.message })));
      continue;
    }
    const file = `${folder}/sample-${index + 1}.${program.end}`;
    writeFileSync(file, code);
    results.push(await run(program.name, program.args(file), sampleMs));
  }
  if (service) stop(service);
  process.stdout.write(JSON.stringify(results), () => process.exit(0));
}

runAll().catch((error: Error) => {
  process.stderr.write(error.message);
  process.exit(1);
});
