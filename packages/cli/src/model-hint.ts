/** How to switch to a language model. A key in the environment alone never does that, because it costs money. */
export async function modelHint(env: NodeJS.ProcessEnv): Promise<string | null> {
  if (env.EMEND_MODEL || env.EMEND_MODEL_FILE) return null;
  // Imported when called: most commands start without it.
  const { modelVendors } = await import("@emend/contract");
  const found = Object.values(modelVendors)
    .flatMap(({ key, example }) => [key, `${key}_FILE`].map((name) => ({ name, example })))
    .find(({ name }) => env[name]);
  return found ? `${found.name} is set and not used: EMEND_MODEL=${found.example} would use it` : null;
}
