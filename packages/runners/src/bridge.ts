// Runs inside the sandbox, which has its own loopback and no other network. Forwards connections on the port to the
// gateway's socket, starts the program, and ends with it.
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";

const [port = "", socketPath = "", command = "", ...args] = process.argv.slice(2);

const server = createServer((near) => {
  const far = connect(socketPath);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
    one.pipe(other);
  }
});
server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(command, args, { stdio: "inherit" });
  child.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal ? 128 : 1)));
});
