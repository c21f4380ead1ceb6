/** The vendors' usual key variables, and a model for each. */
export const vendorKeys = [
  { vendor: "anthropic", variable: "ANTHROPIC_API_KEY", model: "anthropic/claude-sonnet-4-5" },
  { vendor: "openai", variable: "OPENAI_API_KEY", model: "openai/gpt-5" },
  { vendor: "google", variable: "GOOGLE_GENERATIVE_AI_API_KEY", model: "google/gemini-2.5-pro" },
  { vendor: "compatible", variable: "EMEND_COMPATIBLE_API_KEY", model: "compatible/<model>" },
] as const;

/** How to switch to a language model. A key in the environment alone never does that, because it costs money. */
export function modelHint(env: NodeJS.ProcessEnv): string | null {
  if (env.EMEND_MODEL || env.EMEND_MODEL_FILE) return null;
  const found = vendorKeys
    .flatMap(({ variable, model }) => [`${variable}`, `${variable}_FILE`].map((name) => ({ name, model })))
    .find(({ name }) => env[name]);
  return found ? `${found.name} is set and not used: EMEND_MODEL=${found.model} would use it` : null;
}
