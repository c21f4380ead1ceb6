/** The demo needs no configuration, and heeds none but the choice of a model: another database or port is not its own. */
export function demoEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith("EMEND_") || name === "EMEND_MODEL");
  return { ...Object.fromEntries(kept), EMEND_LOG_LEVEL: "silent" };
}
