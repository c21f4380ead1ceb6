import {
  AddClaimBody,
  AgentJob,
  ApproveJobBody,
  Automation,
  AutomationList,
  AutomationRun,
  AutomationTrigger,
  Claim,
  ClaimList,
  CreateAutomationBody,
  CreateJobBody,
  EditAutomationBody,
  ErrorBody,
  Gate,
  GateList,
  GateSummary,
  Health,
  JobDiff,
  JobEvent,
  JobEventData,
  JobList,
  JobRun,
  MessageJobBody,
  ProjectList,
  RequestErrorCodes,
  refusals,
  Upload,
  WebhookMessage,
  webhookEvents,
} from "@emend/contract";
import fastifySwagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { referencePage } from "./reference-page.ts";
import { createStaticFile, type StaticFile } from "./send-json.ts";

type Json = Record<string, unknown>;
type Operations = Record<
  string,
  { responses: Record<string, { content?: unknown; headers?: Record<string, Json> }> } & Json
>;

/** Builds the document from the routes that are added after this. */
export function describeRoutes(app: FastifyInstance, options: { promptCodePointsMax: number }): void {
  for (const schema of [
    AgentJob,
    ErrorBody,
    ProjectList,
    JobList,
    JobRun,
    JobDiff,
    JobEvent,
    JobEventData,
    WebhookMessage,
    RequestErrorCodes,
    Claim,
    ClaimList,
    AddClaimBody,
    AutomationTrigger,
    Automation,
    AutomationList,
    AutomationRun,
    CreateAutomationBody,
    EditAutomationBody,
    GateSummary,
    GateList,
    Gate,
    Health,
    Upload,
    ApproveJobBody,
  ]) {
    app.addSchema(schema);
  }
  for (const body of [CreateJobBody, MessageJobBody]) app.addSchema(withPromptMax(body, options.promptCodePointsMax));
  app.register(fastifySwagger, {
    hideUntagged: true,
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Emend",
        version: "2.0.0",
        description: [
          "Runs background agent jobs over a project's documentation. A client submits a prompt; if the agent changes",
          "files, a pull request is opened and the job's `prLink` is set.",
          "",
          'Every error has the body `{ "error": string }` and a stable code in the header `emend-error`. A path that',
          "exists but does not allow the request's method returns 405, as described in the components.",
        ].join("\n"),
      },
      components: {
        securitySchemes: {
          adminKey: {
            type: "http",
            scheme: "bearer",
            description: "An admin API key, `emend_…`: a server-side secret.",
          },
        },
      },
    },
    refResolver: { buildLocalReference: (json) => String(json.$id) },
    transformObject: (document) =>
      "openapiObject" in document ? finish(document.openapiObject as Json) : document.swaggerObject,
  });
}

/** The limit of prompts depends on the installation. */
function withPromptMax(body: typeof CreateJobBody | typeof MessageJobBody, promptCodePointsMax: number): Json {
  const prompt = { ...body.properties.prompt, maxLength: promptCodePointsMax };
  return { ...body, properties: { ...body.properties, prompt } };
}

/** Adds what the generator leaves out: common headers, HEAD for each GET, and the 405 response. */
function finish(document: Json): Json {
  const components = document.components as Json;
  components.responses = { MethodNotAllowed: toResponse(refusals.methodNotAllowed) };
  for (const operations of Object.values(document.paths as Record<string, Operations>)) {
    for (const { responses } of Object.values(operations)) {
      for (const { headers } of Object.values(responses)) markAlways(headers ?? {});
    }
    if (operations.get) operations.head = headOf(operations.get);
  }
  document.webhooks = Object.fromEntries(webhookEvents.map((event) => [event, webhookOf(event)]));
  return document;
}

/** What a webhook receiver gets. */
function webhookOf(event: string): Json {
  const message = { $ref: "#/components/schemas/WebhookMessage" };
  return {
    post: {
      operationId: event.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
      summary: `The event ${event}`,
      description: "Sent to the project's webhooks, signed according to Standard Webhooks. Any 2xx confirms it.",
      security: [],
      parameters: ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => ({
        name,
        in: "header",
        required: true,
        schema: { type: "string" },
      })),
      requestBody: { required: true, content: { "application/json": { schema: message } } },
      responses: { "2XX": { description: "Taken." }, "410": { description: "Stop sending to this URL." } },
    },
  };
}

function markAlways(headers: Record<string, Json>): void {
  for (const header of Object.values(headers)) {
    const { "x-always": isAlways, ...schema } = header.schema as Json;
    header.schema = schema;
    if (isAlways) header.required = true;
  }
}

function headOf(get: Operations[string]): Operations[string] {
  const responses = Object.entries(get.responses).map(([status, { content: _, ...rest }]) => [status, rest]);
  return {
    ...get,
    operationId: `${get.operationId}Head`,
    summary: `${get.summary}, headers only`,
    responses: Object.fromEntries(responses),
  };
}

function toResponse(answer: { description: string; headers: Record<string, object> }): Json {
  const headers = Object.entries(answer.headers).map(([name, given]) => {
    const { description, ...schema } = given as Json;
    return [name, { description, schema }] as const;
  });
  const response = { description: answer.description, headers: Object.fromEntries(headers) };
  markAlways(response.headers as Record<string, Json>);
  return { ...response, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } };
}

/** The reference page at `/reference/`. It has no script and loads nothing, so it works offline and tells no other server. */
export function serveReference(app: FastifyInstance): void {
  let file: StaticFile | undefined;
  app.get("/reference/", async (request, reply) => {
    // What the page names is found beside it only below a slash.
    if (request.url.split("?", 1)[0]?.endsWith("/reference"))
      return reply.code(301).header("location", "reference/").send();
    file ??= createStaticFile({
      bytes: Buffer.from(referencePage(app.swagger() as Json)),
      type: "text/html; charset=utf-8",
      cacheControl: "no-cache",
    });
    reply.header("content-security-policy", contentPolicy);
    return file.send(request, reply);
  });
}

const contentPolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The document, with this installation's URL. */
export function openapiRoute(app: FastifyInstance, deps: { publicUrl: () => string }): void {
  let made: { url: string; file: StaticFile } | null = null;
  app.get("/openapi.json", (request, reply) => {
    const url = deps.publicUrl();
    if (made?.url !== url) {
      const bytes = Buffer.from(JSON.stringify({ ...app.swagger(), servers: [{ url }] }));
      const type = "application/json; charset=utf-8";
      made = { url, file: createStaticFile({ bytes, type, cacheControl: "no-cache" }) };
    }
    return made.file.send(request, reply);
  });
}
