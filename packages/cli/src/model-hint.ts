/** Vendor keys that people have in their environment, and the model that each would make possible. */
const vendors = [
  { variable: "ANTHROPIC_API_KEY", model: "anthropic/claude-sonnet-4-5" },
  { variable: "OPENAI_API_KEY", model: "openai/gpt-5" },
  { variable: "GOOGLE_GENERATIVE_AI_API_KEY", model: "google/gemini-2.5-pro" },
] as const;

/**
 * The one line that would switch to a real model. A key in the environment alone never does: it costs money. No vendor is
 * built in yet, and a line that fails when typed helps nobody, so it says so.
 */
export function modelHint(env: NodeJS.ProcessEnv): string | null {
  if (env.EMEND_MODEL) return null;
  const vendor = vendors.find(({ variable }) => env[variable]);
  if (!vendor) return null;
  return `${vendor.variable} is set and not used: this version has emend/rules alone; a later one takes EMEND_MODEL=${vendor.model}`;
}
