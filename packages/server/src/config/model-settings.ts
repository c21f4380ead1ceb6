import type { Endpoint, PriceTable } from "@emend/agent";
import { rulesModelName } from "@emend/base/model-names.ts";
import { isModelVendor, type ModelVendor, modelVendorNames, modelVendors, variablesOf } from "@emend/contract";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { SettingReader } from "./setting-reader.ts";

const dollars = Type.Number({ minimum: 0 });
const Prices = Type.Record(
  Type.String({ pattern: "/" }),
  Type.Object({
    input: dollars,
    output: dollars,
    cachedInput: Type.Optional(dollars),
    cacheWrite: Type.Optional(dollars),
    contextTokens: Type.Integer({ minimum: 1000 }),
    pictures: Type.Optional(Type.Boolean()),
  }),
);

export const runnerPrograms = ["claude-code", "codex", "opencode"];
const languageModels = modelVendorNames.map((vendor) => `${vendor}/<model>`).join(", ");
const runners = runnerPrograms.map((program) => `runner/${program}`).join(", ");

function isLanguageModel(name: string): boolean {
  const [vendor = "", ...model] = name.split("/");
  return isModelVendor(vendor) && /^\S+$/.test(model.join("/"));
}

function isRunner(name: string): boolean {
  return name.startsWith("runner/") && runnerPrograms.includes(name.split("/")[1] ?? "");
}

/** The settings of models. */
export function readModelSettings({ text: read, integer, problems }: SettingReader): {
  model: string;
  modelFallbacks: readonly string[];
  modelEndpoints: Readonly<Record<string, Endpoint>>;
  modelPrices: PriceTable;
  /** How long a model may send nothing. */
  modelSilenceMsMax: number;
} {
  const endpoints = modelVendorNames.map((vendor) => [vendor, readEndpoint(vendor, read, problems)]);
  const model = read("EMEND_MODEL") ?? rulesModelName;
  if (model !== rulesModelName && !isLanguageModel(model) && !isRunner(model)) {
    problems.push(`EMEND_MODEL must be ${rulesModelName}, ${languageModels} or ${runners}, not "${model}"`);
  }
  const fallbacks = (read("EMEND_MODEL_FALLBACKS") ?? "").split(",").map((name) => name.trim());
  const modelFallbacks = fallbacks.filter((name) => name !== "");
  for (const name of modelFallbacks.filter((name) => !isLanguageModel(name))) {
    problems.push(`EMEND_MODEL_FALLBACKS must be names such as ${languageModels}, separated by commas, not "${name}"`);
  }
  return {
    model,
    modelFallbacks,
    modelEndpoints: Object.fromEntries(endpoints),
    modelPrices: {
      ...compatibleWindow(read("EMEND_COMPATIBLE_CONTEXT_TOKENS"), problems),
      ...parsePrices(read("EMEND_MODEL_PRICES"), problems),
    },
    modelSilenceMsMax: (integer("EMEND_MODEL_SILENCE_SECONDS", { least: 5, most: 3_600 }) ?? 300) * 1000,
  };
}

function readEndpoint(vendor: ModelVendor, read: SettingReader["text"], problems: string[]): Endpoint {
  const { key, baseUrl } = modelVendors[vendor];
  const { settings, secrets } = variablesOf(vendor);
  const valuesOf = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, read(name)]).filter(([, value]) => value !== null));
  return {
    apiKey: read(key),
    baseUrl: parseBaseUrl(baseUrl, read(baseUrl), problems),
    ...(settings.length > 0 && { settings: valuesOf(settings), secrets: valuesOf(secrets) }),
  };
}

function parseBaseUrl(name: string, text: string | null, problems: string[]): string | null {
  if (text === null) return null;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash) {
    return url.href.replace(/\/+$/, "");
  }
  const shown = url?.username || url?.password || url?.search ? "" : `, not "${text}"`;
  problems.push(`${name} must be an http or https URL without credentials, query or fragment${shown}`);
  return null;
}

const contextTokensMin = 8_000;

/** A compatible server does not state its context window. */
function compatibleWindow(text: string | null, problems: string[]): PriceTable {
  if (text === null) return {};
  const contextTokens = Number(text);
  if (/^\d{1,9}$/.test(text) && contextTokens >= contextTokensMin) {
    return { "compatible/": { input: 0, output: 0, contextTokens } };
  }
  problems.push(
    `EMEND_COMPATIBLE_CONTEXT_TOKENS must be a whole number of at least ${contextTokensMin} tokens, not "${text}"`,
  );
  return {};
}

function parsePrices(text: string | null, problems: string[]): PriceTable {
  if (text === null) return {};
  try {
    const prices: unknown = JSON.parse(text);
    if (Value.Check(Prices, prices)) return prices;
  } catch {
    // Reported below.
  }
  problems.push(
    'EMEND_MODEL_PRICES must be JSON such as {"openai/gpt-5": {"input": 1.25, "output": 10, "contextTokens": 400000}}',
  );
  return {};
}
