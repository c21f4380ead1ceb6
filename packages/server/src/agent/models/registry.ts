import type { RunnerSettings } from "@emend/runners";
import { AppError, isAppError } from "../../errors.ts";
import { type ModelVendor, modelForms, rulesModelName } from "../../lib/model-names.ts";
import type { Model } from "../agent.ts";
import { createRulesModel } from "../rules/rules-model.ts";
import { isRunner, openRunnerModel } from "../runner-model.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { google } from "./google.ts";
import { openai } from "./openai.ts";
import { factsOf, type PriceTable } from "./prices.ts";
import { AnswerTooLong } from "./read-answer.ts";
import { createSdkModel, type Patience, usualPatience } from "./sdk-model.ts";
import type { Endpoint, Vendor } from "./vendor.ts";

/** A new vendor is one file beside this one, one line here and its name in `lib/model-names.ts`. */
const known: Readonly<Record<ModelVendor, Vendor>> = { anthropic, openai, google, compatible };
const vendors: Readonly<Record<string, Vendor>> = known;

export interface ModelsDeps {
  /** The installation's, by vendor. */
  endpoints: Readonly<Record<string, Endpoint>>;
  prices: PriceTable;
  fetch: typeof globalThis.fetch;
  patience?: Patience;
  /** Absent: there are no runners. */
  runners?: RunnerSettings;
  /** A project's own key for a vendor; null: the installation's is used. */
  keyOf(projectId: string, vendor: string): Promise<string | null>;
}

/** The model of this name, with those to ask in its place, or `model_unavailable` in words that say what to set. */
export async function openModel(
  given: ModelsDeps,
  input: { name: string; fallbacks?: readonly string[]; projectId: string | null },
): Promise<Model> {
  if (input.name === rulesModelName) return createRulesModel();
  const deps = { ...given, fetch: boundAnswers(given.fetch) };
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

async function openLanguageModel(deps: ModelsDeps, name: string, projectId: string | null): Promise<Model> {
  const slash = name.indexOf("/");
  const vendorName = name.slice(0, Math.max(0, slash));
  const modelId = name.slice(slash + 1);
  const vendor = Object.hasOwn(vendors, vendorName) ? vendors[vendorName] : undefined;
  if (!vendor || modelId === "") throw unknownModel(name);
  const endpoint = deps.endpoints[vendorName] ?? { apiKey: null, baseUrl: null };
  const apiKey = (projectId === null ? null : await deps.keyOf(projectId, vendorName)) ?? endpoint.apiKey;
  if (vendor.needs === "key" && apiKey === null) throw notSet(name, vendor.keyVariable);
  if (vendor.needs === "baseUrl" && endpoint.baseUrl === null) throw notSet(name, vendor.baseUrlVariable);
  return createSdkModel({
    name,
    vendor,
    language: vendor.open({ modelId, apiKey, baseUrl: endpoint.baseUrl, fetch: deps.fetch }),
    facts: factsOf(name, deps.prices),
    apiKey,
    patience: deps.patience ?? usualPatience,
  });
}

function unknownModel(name: string): AppError {
  return new AppError("model_unavailable", {
    publicMessage: `Unknown model ${JSON.stringify(name.slice(0, 200))}. Set EMEND_MODEL, or the project's model, to ${modelForms}.`,
  });
}

function notSet(name: string, variable: string): AppError {
  return new AppError("model_unavailable", {
    publicMessage: `The model ${name.slice(0, 200)} needs ${variable}, which is not set where Emend runs. Set it, or choose another model: ${rulesModelName} needs none of this.`,
  });
}

/** Far more than the longest answer with all that its protocol says around every few characters. */
const answerBytesMax = 64 * 2 ** 20;
/** Parsers hold a line until it ends; a whole page may stand in one, as an argument of a tool. */
const lineBytesMax = 8 * 2 ** 20;

/**
 * A fetch whose answers end in an error once they pass the bounds: below the stream's parser, whatever the protocol, since
 * that one would gather what never ends until the process has no memory left.
 */
export function boundAnswers(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    let bytes = 0;
    let line = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          const broken = chunk.lastIndexOf(10);
          line = broken === -1 ? line + chunk.length : chunk.length - broken - 1;
          if (bytes > answerBytesMax) throw new AnswerTooLong(answerBytesMax, "bytes");
          if (line > lineBytesMax) throw new AnswerTooLong(lineBytesMax, "bytes without a line break");
          controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(bounded, { status, statusText, headers });
  };
}

/** One that was asked in vain, with growing pauses, is not asked at each turn again. */
const restMs = 60_000;

/**
 * Asks the first model, and where it is not available those after it, in order. One that did not answer rests: as long as
 * its vendor said, and to the end of the run where it refused for good. The job shows which one answered.
 */
export function createFallbackModel(models: readonly [Model, ...Model[]], nowMs = () => performance.now()): Model {
  const [first, ...others] = models;
  if (others.length === 0) return first;
  const resting = new Map<Model, { untilMs: number; fault: AppError }>();
  return {
    name: first.name,
    nature: "language",
    contextTokensMax: Math.min(...models.map((model) => model.contextTokensMax ?? Number.POSITIVE_INFINITY)),
    async nextTurn(input, signal) {
      let fault: AppError | undefined;
      // The first one's words are what its operator must read; a later try is worth it if any may come back.
      const note = (next: AppError) => {
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
          if (!isAppError(error, "model_unavailable")) throw error;
          resting.set(model, { untilMs: nowMs() + restOf(error), fault: error });
          note(error);
        }
      }
      throw fault;
    },
  };
}

function restOf({ retryable, retryAfterMs }: AppError): number {
  return retryAfterMs ?? (retryable ? restMs : Number.POSITIVE_INFINITY);
}
