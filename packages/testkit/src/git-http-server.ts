import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startBound } from "@emend/tree";

export interface GitHttpServer {
  /** The repository `<name>` of the folder is at `<url>/<name>.git`. */
  url: string;
  /** The requests, in order. */
  requests: { method: string; path: string; authorization: string | null; bodyBytes: number }[];
  close(): Promise<void>;
}

/** True: continue. A number: respond with that status. A function: sends the response. */
type Verdict = true | number | ((response: ServerResponse) => void);

/** Serves a folder's repositories over smart HTTP with `git http-backend`, to clients that `authorize` accepts. */
export async function startGitHttpServer(options: {
  root: string;
  authorize?(request: IncomingMessage): Verdict | Promise<Verdict>;
}): Promise<GitHttpServer> {
  const requests: GitHttpServer["requests"] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const entry = { method, path, authorization: headers.authorization ?? null, bodyBytes: 0 };
    requests.push(entry);
    const verdict = (await options.authorize?.(request)) ?? true;
    if (verdict === true) {
      serveGit(options.root, request, response);
      request.on("data", (chunk: Buffer) => {
        entry.bodyBytes += chunk.length;
      });
      return;
    }
    if (typeof verdict === "function") return verdict(response);
    response.writeHead(verdict, verdict === 401 ? { "www-authenticate": 'Basic realm="git"' } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Handles one git request to the repositories of a folder. */
export function serveGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://localhost");
  const header = (name: string) => String(request.headers[name] ?? "");
  const backend = startBound({
    program: "git",
    args: ["-c", "http.receivepack=true", "-c", "safe.directory=*", "http-backend"],
    env: {
      PATH: process.env.PATH ?? "",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? "",
      CONTENT_TYPE: header("content-type"),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      GIT_PROTOCOL: header("git-protocol"),
    },
  });
  backend.stderr.resume();
  request.pipe(backend.stdin);
  response.on("close", () => backend.stop());
  let head: Buffer | null = Buffer.alloc(0);
  backend.stdout.on("data", (chunk: Buffer) => {
    if (head === null) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    const lines = head.toString("latin1", 0, end).split("\r\n");
    const headers = Object.fromEntries(lines.map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]));
    const status = Number.parseInt(headers.Status ?? "200", 10);
    delete headers.Status;
    response.writeHead(status, headers);
    response.write(head.subarray(end + 4));
    head = null;
  });
  backend.stdout.on("end", () => response.end());
}
