import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger } from "@emend/base/logger.ts";
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { expect } from "vitest";
import { type CreateKeyInput, createKey } from "../../server/src/accounts/keys/api-keys.ts";
import { createKeyring, type Keyring } from "../../server/src/accounts/keys/keyring.ts";
import type { Project } from "../../server/src/accounts/projects/projects.ts";
import { addProject } from "../../server/src/accounts/projects/save-project.ts";
import { createSealer } from "../../server/src/accounts/secrets.ts";
import { type Listener, startListener } from "../../server/src/db/listener.ts";
import { createPool, type Pool } from "../../server/src/db/pool.ts";
import { type AppDeps, buildApp } from "../../server/src/http/app.ts";
import { operationsPlugin } from "../../server/src/operations/routes.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { createOpenApiJudge, type OpenApiDocument } from "./openapi-judge.ts";

export interface ApiRequest {
  method?: string;
  headers?: Record<string, string | string[]>;
  /** Null: no Authorization header. */
  key?: string | null;
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown;
}

export interface ApiAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body. Undefined if there is none. */
  json: unknown;
}

export interface TestApi {
  url: string;
  app: FastifyInstance;
  database: TestDatabase;
  pool: Pool;
  listener: Listener;
  keyring: Keyring;
  document: OpenApiDocument;
  addProject(settings?: unknown): Promise<Project>;
  addKey(project: Project, input?: Partial<CreateKeyInput>): Promise<string>;
  /** Sends a request over HTTP. Validates a `/v2` response against the OpenAPI document. */
  send(path: string, request?: ApiRequest): Promise<ApiAnswer>;
  close(): Promise<void>;
}

const sealer = createSealer("a secret of the tests, and of nothing else");

interface ApiOptions extends Partial<AppDeps> {
  databaseUrl?: string;
  /** Plugins that share the app's dependencies. */
  pluginOf?(parts: { pool: Pool; listener: Listener; keyring: Keyring }): FastifyPluginAsync;
}

/** The HTTP API on its own port and database. */
export async function startApi(options: ApiOptions = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const log = createLogger({ level: "silent" });
  const url = options.databaseUrl ?? database.url;
  const pool = createPool({ url, connectionsMax: 10, log });
  const listener = await startListener({ url, log });
  const keyring = createKeyring({ pool, listener, log });
  const app = buildApp({
    pool,
    listener,
    keyring,
    log,
    publicUrl: () => "https://emend.test/base",
    trustProxy: false,
    promptCodePointsMax: 100_000,
    defaultModel: "emend/rules",
    ...options,
    plugins: [
      operationsPlugin({ pool, sealer, allowPrivateWebhooks: false, keyring }),
      ...(options.pluginOf ? [options.pluginOf({ pool, listener, keyring })] : (options.plugins ?? [])),
    ],
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const document = (await app.inject({ url: "/openapi.json" })).json() as OpenApiDocument;
  const judge = createOpenApiJudge(document);

  return {
    url: `http://127.0.0.1:${port}`,
    app,
    database,
    pool,
    listener,
    keyring,
    document,
    addProject: (settings = {}) =>
      addProject(
        { db: database.pool, sealer },
        { name: "docs", forge: "github", repositoryUrl: "https://github.test/acme/docs", settings },
      ),
    async addKey(project, input = {}) {
      const outcome = await createKey(database.pool, {
        name: "test",
        projectIds: [project.id],
        scope: "write",
        expiresInMs: null,
        allowList: null,
        createdBy: "console",
        ...input,
      });
      if (outcome.kind !== "created") throw new Error(outcome.kind);
      return outcome.key;
    },
    async send(path, request = {}) {
      const answer = await sendRequest(port, path, request);
      const seen = { method: request.method ?? "GET", path, ...answer, body: answer.text };
      if (path.startsWith("/v2/agent/")) expect(judge(seen)).toEqual([]);
      return answer;
    },
    async close() {
      await app.close();
      await keyring.close();
      await listener.close();
      await pool.end();
      await database.drop();
    },
  };
}

async function sendRequest(port: number, path: string, request: ApiRequest): Promise<ApiAnswer> {
  const { body, key } = request;
  const isRaw = typeof body === "string" || Buffer.isBuffer(body);
  const payload = body === undefined || isRaw ? body : JSON.stringify(body);
  const headers = {
    ...(key && { authorization: `Bearer ${key}` }),
    ...(payload !== undefined && { "content-length": String(Buffer.byteLength(payload as string)) }),
    ...(body !== undefined && !isRaw && { "content-type": "application/json" }),
    ...request.headers,
  };
  const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>();
  const outgoing = httpRequest({
    port,
    host: "127.0.0.1",
    path,
    method: request.method ?? "GET",
    headers,
    agent: false,
  });
  outgoing.on("response", (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const isJson = text !== "" && response.headers["content-type"]?.startsWith("application/json");
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text,
        json: isJson ? JSON.parse(text) : undefined,
      });
    });
  });
  outgoing.on("error", reject);
  outgoing.end(payload);
  return promise;
}
