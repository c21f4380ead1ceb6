import { type ChatCompletionRequest, type FixtureOpts, type FixtureResponse, LLMock } from "@copilotkit/aimock";
import { type Endpoint, type ModelsDeps, openModel } from "@emend/agent";
import { type ModelVendor, modelVendorNames, modelVendors, variablesOf } from "@emend/contract";
import type { Patience } from "../../agent/src/models/sdk-model.ts";
import { startCloudDoor } from "./cloud-door.ts";

/** One model of each vendor. */
export const protocols = [
  "anthropic/claude-sonnet-4-5",
  "openai/gpt-5",
  "google/gemini-2.5-pro",
  "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
  "vertex/gemini-2.5-flash",
  "azure/gpt-5-mini",
  "compatible/llama-4",
] as const;

/** The response to a request: tool calls by name and input, text, or the mock's own format. */
export type FarTurn =
  | string
  | ReadonlyArray<[name: string, input: unknown]>
  | { response: FixtureResponse; options?: FixtureOpts };

export interface FarModel {
  endpoints: ModelsDeps["endpoints"];
  /** The same, for a separate process. */
  environment: Record<string, string>;
  /** Every request so far, in one shape for all protocols. */
  requests: ChatCompletionRequest[];
  headers(): readonly Record<string, string>[];
  stop(): Promise<void>;
}

const key = "sk-test-0123456789";
const cloudSettings = {
  AWS_REGION: "eu-central-1",
  GOOGLE_VERTEX_PROJECT: "docs",
  GOOGLE_VERTEX_LOCATION: "europe-west1",
};

/**
 * A mock server for all protocols on loopback. `script` is called once per request, with the number of responses in the
 * conversation so far. So its answer depends on the conversation only, as with a real model.
 */
export async function startFarModel(
  script: (turn: number, request: ChatCompletionRequest, requestNumber: number) => FarTurn,
): Promise<FarModel> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1", journalMaxEntries: 0 });
  const requests: ChatCompletionRequest[] = [];
  // Options such as a cut belong to the fixture and not to its response, so the fixture is changed for each request.
  mock.addFixture({
    match: {
      predicate(request) {
        requests.push(request);
        const said = countTurns(request);
        const turn = script(said, request, requests.length);
        const { response, options } = toFixture(turn, requests.length);
        Object.assign(fixture, { latency: undefined, truncateAfterChunks: undefined, chaos: undefined }, options);
        fixture.response = response;
        return true;
      },
    },
    response: { content: "" },
  });
  const fixture = mock.getFixtures()[0] as { response: FixtureResponse };
  await mock.start();
  const clouds = await startCloudDoor(mock.url);
  const endpoints: Record<ModelVendor, Endpoint> = {
    anthropic: { apiKey: key, baseUrl: mock.url },
    openai: { apiKey: key, baseUrl: `${mock.url}/v1` },
    google: { apiKey: key, baseUrl: `${mock.url}/v1beta` },
    bedrock: { apiKey: key, baseUrl: clouds.url, settings: cloudSettings },
    vertex: { apiKey: key, baseUrl: clouds.url, settings: cloudSettings },
    azure: { apiKey: key, baseUrl: `${mock.url}/v1`, settings: cloudSettings },
    compatible: { apiKey: null, baseUrl: `${mock.url}/v1` },
  };
  const environment = modelVendorNames.flatMap((vendor) => {
    const { apiKey, baseUrl, settings = {} } = endpoints[vendor];
    return [
      [modelVendors[vendor].key, apiKey] as const,
      [modelVendors[vendor].baseUrl, baseUrl] as const,
      ...variablesOf(vendor).settings.map((name) => [name, settings[name] ?? null] as const),
    ];
  });
  return {
    endpoints,
    environment: Object.fromEntries(environment.filter((pair): pair is [(typeof pair)[0], string] => pair[1] !== null)),
    requests,
    headers: () => mock.getRequests().map((entry) => entry.headers),
    async stop() {
      await clouds.stop();
      await mock.stop();
    },
  };
}

/** All vendors at one address. */
export function sameEndpoint(endpoint: Endpoint): FarModel["endpoints"] {
  return Object.fromEntries(modelVendorNames.map((vendor) => [vendor, { settings: cloudSettings, ...endpoint }]));
}

const usage = {
  prompt_tokens: 1000,
  completion_tokens: 100,
  input_tokens: 1000,
  output_tokens: 100,
  promptTokenCount: 1000,
  candidatesTokenCount: 100,
  totalTokenCount: 1100,
};

/** Some protocols send the calls of one turn as several messages. */
function countTurns({ messages }: ChatCompletionRequest): number {
  return messages.filter(({ role }, index) => role === "assistant" && messages[index - 1]?.role !== "assistant").length;
}

function toFixture(turn: FarTurn, requestNumber: number): { response: FixtureResponse; options?: FixtureOpts } {
  if (typeof turn === "string") return { response: { content: turn, usage } };
  if ("response" in turn) return turn;
  const toolCalls = turn.map(([name, input], index) => ({
    id: `call_${requestNumber}_${index}`,
    name,
    arguments: typeof input === "string" ? input : JSON.stringify(input),
  }));
  return { response: { toolCalls, usage } };
}

/** A client for this mock server, with short waits. */
export async function openFarModel(
  far: FarModel,
  name: string,
  patience: Partial<Patience> = {},
  fetch: typeof globalThis.fetch = globalThis.fetch,
) {
  const quick = { triesMax: 4, firstPauseMs: 1, pauseMsMax: 5_000, silenceMsMax: 10_000, ...patience };
  return openModel(
    { endpoints: far.endpoints, prices: {}, fetch, patience: quick, keyOf: async () => null },
    { name, projectId: null },
  );
}
