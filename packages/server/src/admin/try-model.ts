import { openModel } from "@emend/agent";
import { createFetch } from "@emend/base/network.ts";
import type { Config } from "../config/config.ts";
import { isAppError } from "../errors.ts";

export type ModelTrial =
  /** `window`: its assumed context window, in words. */
  | { kind: "answers"; model: string; ms: number; window?: string }
  | { kind: "unavailable"; model: string; words: string };

const tryMsMax = 30_000;

/** A project whose own keys are tested. */
interface TrialProject {
  id: string;
  keyOf(projectId: string, vendor: string): Promise<string | null>;
}

/** Asks the configured model one short question, so that an operator learns about a wrong key before a job does. */
export async function tryModel(config: Config, name = config.model, project?: TrialProject): Promise<ModelTrial> {
  const network = createFetch(config.network);
  const startedAt = performance.now();
  try {
    const patience = { triesMax: 1, firstPauseMs: 0, pauseMsMax: 0, silenceMsMax: tryMsMax };
    const fetch = network.fetch as unknown as typeof globalThis.fetch;
    const model = await openModel(
      {
        endpoints: config.modelEndpoints,
        prices: config.modelPrices,
        runners: config.runners,
        fetch,
        patience,
        keyOf: async (projectId, vendor) => project?.keyOf(projectId, vendor) ?? null,
      },
      { name, projectId: project?.id ?? null },
    );
    // Opening a runner already checks the program, its key and its sandbox. Asking it would be a whole task.
    if (model.nature === "language" && !model.run) {
      const messages = [{ role: "user" as const, text: "Answer with the one word: ready" }];
      await model.nextTurn({ system: "You answer briefly.", messages, tools: [] }, AbortSignal.timeout(tryMsMax));
    }
    const ms = Math.round(performance.now() - startedAt);
    return { kind: "answers", model: name, ms, ...windowOf(name, model.contextTokensMax) };
  } catch (error) {
    const words = isAppError(error) ? error.publicMessage : `nothing was heard for ${tryMsMax / 1000} seconds`;
    return { kind: "unavailable", model: name, words };
  } finally {
    await network.close();
  }
}

/** A wrong window fails jobs late: with a vendor's refusal, or with a conversation that was cut for no reason. */
function windowOf(model: string, tokens: number | undefined): { window?: string } {
  if (tokens === undefined) return {};
  const set = model.startsWith("compatible/") ? " (EMEND_COMPATIBLE_CONTEXT_TOKENS)" : "";
  return { window: `window ${tokens.toLocaleString("en-US")} tokens${set}` };
}
