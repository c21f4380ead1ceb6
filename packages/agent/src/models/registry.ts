import { setImmediate as nextTurn } from "node:timers/promises";
import { isFault } from "@emend/base/fault.ts";
import { modelForms, rulesModelName } from "@emend/base/model-names.ts";
import { isModelVendor, type ModelVendor, modelVendors } from "@emend/contract";
import type { RunnerSettings } from "@emend/runners";
import type { Model } from "../agent.ts";
import { AgentFault } from "../faults.ts";
import { createRulesModel } from "../rules/rules-model.ts";
import { isRunner, openRunnerModel } from "../runner-model.ts";
import { canSeePictures, factsOf, type PriceTable } from "./prices.ts";
import { AnswerTooLong } from "./read-answer.ts";
import { createSdkModel, type Patience, usualPatience } from "./sdk-model.ts";
import type { Endpoint } from "./vendor.ts";
import { vendors } from "./vendors.ts";

export interface ModelsDeps {
  /** The installation's endpoints, by vendor. */
  endpoints: Readonly<Record<string, Endpoint>>;
  prices: PriceTable;
  fetch: typeof globalThis.fetch;
  patience?: Patience;
  /** Absent if there are no runners. */
  runners?: RunnerSettings;
  /** A project's own key for a vendor. Null: use the installation's. */
  keyOf(projectId: string, vendor: string): Promise<string | null>;
}

/** Opens a model with its fallbacks. Throws `model_unavailable` with a message that says what to set. */
export async function openModel(
  given: ModelsDeps,
  input: { name: string; fallbacks?: readonly string[]; projectId: string | null },
): Promise<Model> {
  if (input.name === rulesModelName) return createRulesModel();
  const { silenceMsMax } = given.patience ?? usualPatience;
  const deps = { ...given, fetch: boundAnswers(given.fetch, silenceMsMax) };
  const { runners, endpoints } = deps;
  if (runners && isRunner(input.name)) {
    const keyOf = async (vendor: string) => (input.projectId === null ? null : deps.keyOf(input.projectId, vendor));
    return openRunnerModel({ settings: runners, endpoints, fetch: deps.fetch, keyOf }, input.name);
  }
  const first = await openLanguageModel(deps, input.name, input.projectId);
  const others: Model[] = [];
  for (const name of input.fallbacks ?? []) {
    if (name !== input.name) others.push(await openLanguageModel(deps, name, input.projectId));
  }
  return createFallbackModel([first, ...others]);
}

/** What a vendor's models lack, with any key (`null`: nothing) and without one. */
export function missingOf(
  vendor: ModelVendor,
  endpoint: Endpoint,
): { withKey: string | null; withoutKey: string | null } {
  const { missing } = vendors[vendor](modelVendors[vendor].example.split("/")[1] ?? "");
  return { withKey: missing({ ...endpoint, apiKey: "key" }), withoutKey: missing({ ...endpoint, apiKey: null }) };
}

async function openLanguageModel(deps: ModelsDeps, name: string, projectId: string | null): Promise<Model> {
  const slash = name.indexOf("/");
  const vendorName = name.slice(0, Math.max(0, slash));
  const modelId = name.slice(slash + 1);
  if (!isModelVendor(vendorName) || modelId === "") throw unknownModel(name);
  const vendor = vendors[vendorName](modelId);
  const installed = deps.endpoints[vendorName] ?? { apiKey: null, baseUrl: null };
  const apiKey = (projectId === null ? null : await deps.keyOf(projectId, vendorName)) ?? installed.apiKey;
  const endpoint = { ...installed, apiKey };
  const missing = vendor.missing(endpoint);
  if (missing !== null) throw notSet(name, missing);
  return createSdkModel({
    name,
    vendor,
    language: await vendor.open({ ...endpoint, modelId, fetch: deps.fetch }),
    facts: factsOf(name, deps.prices),
    seesPictures: canSeePictures(name, deps.prices),
    apiKey,
    patience: deps.patience ?? usualPatience,
  });
}

function unknownModel(name: string): AgentFault {
  return new AgentFault("model_unavailable", {
    publicMessage: `Unknown model ${JSON.stringify(name.slice(0, 200))}. Set EMEND_MODEL, or the project's model, to ${modelForms}.`,
  });
}

function notSet(name: string, variable: string): AgentFault {
  return new AgentFault("model_unavailable", {
    publicMessage: `The model ${name.slice(0, 200)} has no key or address. Set one in the project's settings under Model, or ${variable} where Emend runs. The model ${rulesModelName} needs none.`,
  });
}

/** Far more than the longest response with its protocol overhead. */
const answerBytesMax = 64 * 2 ** 20;
/** Parsers buffer a line until it ends. A tool's argument may contain a whole page in one line. */
const lineBytesMax = 8 * 2 ** 20;
/** The parser never pauses while it has bytes, so it gets a few at a time: the server must answer others in between. */
const pieceBytes = 16 * 2 ** 10;

/**
 * A fetch whose responses fail once they exceed the limits, or send nothing for too long. It sits below the stream's
 * parser, which would buffer an endless line until the process runs out of memory, and which keeps a stream's comments,
 * a server's sign of life, to itself.
 */
export function boundAnswers(
  fetch: typeof globalThis.fetch,
  silenceMsMax = usualPatience.silenceMsMax,
): typeof globalThis.fetch {
  return async (input, init) => {
    const silence = new AbortController();
    const seconds = Math.ceil(silenceMsMax / 1000);
    const clock = setTimeout(
      () => silence.abort(new Error(`the model sent nothing for ${seconds} seconds`)),
      silenceMsMax,
    ).unref();
    const signals = [silence.signal, ...(init?.signal ? [init.signal] : [])];
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
    if (response.body === null) {
      clearTimeout(clock);
      return response;
    }
    let bytes = 0;
    let line = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        async transform(chunk, controller) {
          clock.refresh();
          bytes += chunk.length;
          const broken = chunk.lastIndexOf(10);
          line = broken === -1 ? line + chunk.length : chunk.length - broken - 1;
          if (bytes > answerBytesMax) throw new AnswerTooLong(answerBytesMax, "bytes");
          if (line > lineBytesMax) throw new AnswerTooLong(lineBytesMax, "bytes without a line break");
          for (let at = 0; at < chunk.length; at += pieceBytes) {
            controller.enqueue(chunk.subarray(at, at + pieceBytes));
            await nextTurn();
          }
        },
        flush: () => clearTimeout(clock),
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(bounded, { status, statusText, headers });
  };
}

/** After its retries failed, a model is not asked again for this long. */
const restMs = 60_000;

/**
 * Asks the first model and, if it is unavailable, the fallbacks in order. A model that failed is skipped for as long as
 * its vendor said, or for the rest of the run if it refused permanently. The job shows which model answered.
 */
export function createFallbackModel(models: readonly [Model, ...Model[]], nowMs = () => performance.now()): Model {
  const [first, ...others] = models;
  if (others.length === 0) return first;
  const resting = new Map<Model, { untilMs: number; fault: AgentFault }>();
  return {
    name: first.name,
    nature: "language",
    contextTokensMax: Math.min(...models.map((model) => model.contextTokensMax ?? Number.POSITIVE_INFINITY)),
    async nextTurn(input, signal) {
      let fault: AgentFault | undefined;
      // The operator needs the first model's error. A retry makes sense if any of them may recover.
      const note = (next: AgentFault) => {
        fault = fault && (fault.retryable || !next.retryable) ? fault : next;
      };
      for (const model of models) {
        const rest = resting.get(model);
        if (rest && nowMs() < rest.untilMs) {
          note(rest.fault);
          continue;
        }
        try {
          return await model.nextTurn(input, signal);
        } catch (error) {
          if (!isFault(error, "model_unavailable")) throw error;
          resting.set(model, { untilMs: nowMs() + restOf(error), fault: error });
          note(error);
        }
      }
      throw fault;
    },
  };
}

function restOf({ retryable, retryAfterMs }: AgentFault): number {
  return retryAfterMs ?? (retryable ? restMs : Number.POSITIVE_INFINITY);
}
