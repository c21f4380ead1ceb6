import { awsCredentials, azureToken } from "./identities.ts";
import { outputTokensMax, type Vendor, type VendorInput } from "./vendor.ts";

/**
 * Models of the large clouds. Each takes a key, or the identity of the machine: a role, a service account or a managed
 * identity.
 */

/** By the Converse API, which is the same for every maker. Only these makers' models accept cache marks. */
const bedrockCaches = /(^|\.)(anthropic\.claude|amazon\.nova)/;

export function bedrock(modelId: string): Vendor {
  return {
    missing: ({ settings = {} }) => (regionOf(settings) === undefined ? "AWS_REGION" : null),
    metadataName: "bedrock",
    ...(modelId.includes("anthropic.") && { outputTokensMax }),
    ...(bedrockCaches.test(modelId) && { cacheMark: { bedrock: { cachePoint: { type: "default" } } } }),
    async open({ apiKey, baseUrl, fetch, settings = {}, secrets = {} }) {
      const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
      const region = regionOf(settings) ?? "";
      const provider = createAmazonBedrock({
        region,
        fetch,
        ...(baseUrl !== null && { baseURL: baseUrl }),
        ...(apiKey === null
          ? { credentialProvider: awsCredentials({ ...settings, ...secrets, region }, fetch) }
          : { apiKey }),
      });
      return provider(modelId);
    },
  };
}

function regionOf(settings: Readonly<Record<string, string>>): string | undefined {
  return settings.AWS_REGION ?? settings.AWS_DEFAULT_REGION;
}

/** Gemini, and Claude by its own protocol. */
export function vertex(modelId: string): Vendor {
  const missing: Vendor["missing"] = ({ apiKey, settings = {} }) =>
    apiKey === null && projectOf(settings) === undefined ? "GOOGLE_VERTEX_PROJECT" : null;
  if (!modelId.startsWith("claude")) return { missing, metadataName: "vertex", open: openGemini };
  return {
    // A key opens only Gemini here.
    missing: (endpoint) => missing({ ...endpoint, apiKey: null }),
    metadataName: "anthropic",
    outputTokensMax,
    cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
    async open({ baseUrl, fetch, settings = {} }) {
      const { createGoogleVertexAnthropic } = await import("@ai-sdk/google-vertex/anthropic");
      const place = placeOf(settings);
      const provider = createGoogleVertexAnthropic({
        ...place,
        fetch,
        ...(baseUrl !== null && { baseURL: `${pathOf(baseUrl, place)}/publishers/anthropic/models` }),
      });
      return provider(modelId);
    },
  };
}

async function openGemini({ modelId, apiKey, baseUrl, fetch, settings = {} }: VendorInput) {
  const { createGoogleVertex } = await import("@ai-sdk/google-vertex");
  const place = placeOf(settings);
  const root = apiKey === null ? pathOf(baseUrl, place) : `${baseUrl}/v1`;
  const provider = createGoogleVertex({
    ...place,
    fetch,
    ...(apiKey !== null && { apiKey }),
    ...(baseUrl !== null && { baseURL: `${root}/publishers/google` }),
  });
  return provider(modelId);
}

function projectOf(settings: Readonly<Record<string, string>>): string | undefined {
  return settings.GOOGLE_VERTEX_PROJECT ?? settings.GOOGLE_CLOUD_PROJECT;
}

interface Place {
  project: string;
  location: string;
}

function placeOf(settings: Readonly<Record<string, string>>): Place {
  return { project: projectOf(settings) ?? "", location: settings.GOOGLE_VERTEX_LOCATION ?? "global" };
}

function pathOf(baseUrl: string | null, { project, location }: Place): string {
  return `${baseUrl}/v1/projects/${project}/locations/${location}`;
}

/** By OpenAI's Responses API. The model's name is that of the deployment. */
export const azure: Vendor = {
  missing: ({ baseUrl, settings = {} }) =>
    baseUrl === null && !settings.AZURE_RESOURCE_NAME ? "AZURE_RESOURCE_NAME" : null,
  metadataName: "azure",
  options: (cacheKey) => ({ azure: { store: false, promptCacheKey: cacheKey } }),
  async open({ modelId, apiKey, baseUrl, fetch, settings = {}, secrets = {} }) {
    const { createAzure } = await import("@ai-sdk/azure");
    const provider = createAzure({
      fetch,
      ...(baseUrl === null ? { resourceName: settings.AZURE_RESOURCE_NAME ?? "" } : { baseURL: baseUrl }),
      ...(apiKey === null ? { tokenProvider: azureToken({ ...settings, ...secrets }, fetch) } : { apiKey }),
    });
    return provider.responses(modelId);
  },
};
