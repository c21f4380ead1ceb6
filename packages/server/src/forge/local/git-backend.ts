import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { finished, type Readable } from "node:stream";
import { type BoundProcess, gitEnvironment, gitMemoryBytesMax, startBound } from "@emend/tree";

export interface GitRequest {
  projectId: string;
  /** Relative to the repository, as git requests it. */
  path: "info/refs" | "git-upload-pack" | "git-receive-pack";
  service: "git-upload-pack" | "git-receive-pack";
  headers: IncomingHttpHeaders;
  body: Readable | null;
  /** Who pushed, for git's reflog. */
  user: string;
}

const exchangeMsMax = 30 * 60_000;
const requestBytesMax = 2 * 1024 * 1024 * 1024;

/**
 * Answers a git client's request with `git http-backend`, streaming both ways. The process is stopped when the client
 * disconnects, at the limits, and with this process. Resolves with the exit code.
 */
export async function serveGit(
  forgeDir: string,
  request: GitRequest,
  response: ServerResponse,
): Promise<number | null> {
  const backend = startBound({
    program: "git",
    args: ["http-backend"],
    env: {
      ...gitEnvironment({ path: searchPath(), network: {}, allowedProtocols: [], config }),
      ...cgi(forgeDir, request),
    },
    fileBytesMax: requestBytesMax,
    memoryBytesMax: gitMemoryBytesMax,
  });
  const timer = setTimeout(backend.stop, exchangeMsMax);
  const onClose = () => {
    // Git may still be tidying up after the last byte of a response.
    if (!response.writableEnded) backend.stop();
  };
  response.once("close", onClose);
  backend.stderr.resume();
  try {
    sendBody(request.body, backend);
    await Promise.all([answer(backend, response), backend.ended]);
    return (await backend.ended).code;
  } finally {
    clearTimeout(timer);
    response.off("close", onClose);
  }
}

const config = {
  // The folder is ours, whatever user id owns it.
  "safe.directory": "*",
  // A push only adds to a branch: jobs start from its history, and reviews name its commits.
  "receive.denyNonFastForwards": "true",
  // Clients can see and write only branches and tags, and see the heads of pull requests. Other refs have a meaning for
  // git: `refs/replace/…` substitutes one object for another.
  // A branch or tag named HEAD would be confused with the default branch.
  "transfer.hideRefs": ["refs", "!refs/heads", "!refs/tags", "refs/heads/HEAD", "refs/tags/HEAD"],
  "uploadpack.hideRefs": "!refs/pull",
};

function searchPath(): string {
  return process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
}

function cgi(forgeDir: string, request: GitRequest): Record<string, string> {
  const { headers } = request;
  const env: Record<string, string> = {
    GIT_PROJECT_ROOT: forgeDir,
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_INFO: `/${request.projectId}.git/${request.path}`,
    REQUEST_METHOD: request.body ? "POST" : "GET",
    QUERY_STRING: request.body ? "" : `service=${request.service}`,
    REMOTE_USER: request.user,
    CONTENT_TYPE: headers["content-type"] ?? "",
  };
  if (headers["content-length"]) env.CONTENT_LENGTH = headers["content-length"];
  if (headers["content-encoding"]) env.HTTP_CONTENT_ENCODING = headers["content-encoding"];
  const protocol = headers["git-protocol"];
  if (typeof protocol === "string" && /^[A-Za-z0-9=:._-]{1,100}$/.test(protocol)) env.GIT_PROTOCOL = protocol;
  return env;
}

function sendBody(body: Readable | null, backend: BoundProcess): void {
  if (!body) {
    backend.stdin.end();
    return;
  }
  let bytes = 0;
  body.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > requestBytesMax) backend.stop();
  });
  body.pipe(backend.stdin);
  // A client that disconnects in the middle must not look like one that finished.
  finished(body, { writable: false }, (error) => error && backend.stop());
}

/** Sends the program's CGI headers, then streams the rest of its output. */
async function answer(backend: BoundProcess, response: ServerResponse): Promise<void> {
  const head = await readCgiHeaders(backend.stdout);
  if (!head) {
    backend.stop();
    if (!response.headersSent) response.writeHead(502, { "content-type": "text/plain" });
    response.end("git did not answer\n");
    return;
  }
  response.writeHead(head.status, head.headers);
  if (head.rest.length > 0) response.write(head.rest);
  const { promise, resolve } = Promise.withResolvers<void>();
  finished(response, () => resolve());
  backend.stdout.pipe(response);
  await promise;
}

interface CgiHead {
  status: number;
  headers: OutgoingHttpHeaders;
  /** The bytes after the headers in the same chunk. */
  rest: Buffer;
}

const headBytesMax = 16 * 1024;

/** Reads a CGI program's headers and leaves the stream paused after them. Null if there are no complete headers. */
async function readCgiHeaders(stream: Readable): Promise<CgiHead | null> {
  let bytes = Buffer.alloc(0);
  const { promise, resolve } = Promise.withResolvers<CgiHead | null>();
  function onData(chunk: Buffer) {
    bytes = Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf("\r\n\r\n");
    if (end !== -1) settle(parseHead(bytes.subarray(0, end).toString("latin1"), bytes.subarray(end + 4)));
    else if (bytes.length > headBytesMax) settle(null);
  }
  function onEnd() {
    settle(null);
  }
  function settle(head: CgiHead | null) {
    stream.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
    resolve(head);
  }
  stream.on("data", onData).on("end", onEnd).on("error", onEnd);
  return promise;
}

function parseHead(text: string, rest: Buffer): CgiHead {
  const headers: OutgoingHttpHeaders = {};
  let status = 200;
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon === -1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "status") status = Number.parseInt(value, 10) || 500;
    else headers[name] = value;
  }
  return { status, headers, rest };
}
