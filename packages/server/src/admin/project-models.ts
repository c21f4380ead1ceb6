import { canSeePictures, factsOf, missingOf, offeredModels } from "@emend/agent";
import { rulesModelName } from "@emend/base/model-names.ts";
import { type DashboardModels, modelVendorNames, modelVendors } from "@emend/contract";
import { listModelKeys } from "../accounts/keys/model-keys.ts";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import type { Project } from "../accounts/projects/projects.ts";
import type { Config } from "../config/config.ts";
import type { Queryable } from "../db/pool.ts";

/** Before an installation has jobs of its own to measure. */
const assumedJob = { inputTokens: 60_000, cachedInputTokens: 45_000, outputTokens: 3_000, isMeasured: false };
const measuredMin = 5;

/** The models that a project can choose, with what they cost, and whose key they would use. */
export async function describeModels(
  deps: { db: Queryable; config: Pick<Config, "model" | "modelEndpoints" | "modelPrices"> },
  project: Project,
): Promise<DashboardModels> {
  const { db, config } = deps;
  const own = await listModelKeys(db, project.id);
  const usual = await readUsualJob(db);
  const describe = (name: string) => {
    const { input, output, cachedInput, contextTokens } = factsOf(name, config.modelPrices);
    const plain = usual.inputTokens - usual.cachedInputTokens;
    const cost = plain * input + usual.cachedInputTokens * (cachedInput ?? input) + usual.outputTokens * output;
    return {
      name,
      inputUsd: input,
      outputUsd: output,
      cachedInputUsd: cachedInput ?? null,
      contextTokens,
      seesPictures: canSeePictures(name, config.modelPrices),
      usualJobUsd: cost / 1_000_000,
    };
  };
  const model = allowedModels(project.settings, config.model)[0];
  return {
    model,
    isInherited: project.settings.model === null,
    usualJob: usual,
    vendors: modelVendorNames.map((vendor) => {
      const endpoint = config.modelEndpoints[vendor] ?? { apiKey: null, baseUrl: null };
      const missing = missingOf(vendor, endpoint);
      const names = offeredModels.filter((name) => name.startsWith(`${vendor}/`));
      const isOther = model.startsWith(`${vendor}/`) && !names.includes(model);
      return {
        vendor,
        label: modelVendors[vendor].label,
        needs: missing.withKey,
        key: own.includes(vendor) ? "project" : endpoint.apiKey ? "installation" : null,
        isKeyOptional: missing.withoutKey === null,
        other: describe(`${vendor}/`),
        models: [...(isOther && model !== rulesModelName ? [model] : []), ...names].map(describe),
      };
    }),
  };
}

/** The median of the newest jobs of a language model. */
async function readUsualJob(db: Queryable): Promise<DashboardModels["usualJob"]> {
  const median = (name: string) =>
    `coalesce(percentile_cont(0.5) within group (order by coalesce((usage ->> '${name}')::float8, 0)), 0)::float8 as "${name}"`;
  const { rows } = await db.query<{
    count: number;
    inputTokens: number;
    cachedInputTokens: number;
    outputTokens: number;
  }>(
    `select count(*)::int as count, ${median("inputTokens")}, ${median("cachedInputTokens")}, ${median("outputTokens")}
     from (select usage from jobs order by id desc limit 500) newest where (usage ->> 'outputTokens')::float8 > 0`,
  );
  const [found] = rows;
  if (!found || found.count < measuredMin) return assumedJob;
  const { inputTokens, cachedInputTokens, outputTokens } = found;
  return { inputTokens, cachedInputTokens, outputTokens, isMeasured: true };
}
