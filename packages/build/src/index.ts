export { type Builds, type BuildsConfig, createBuilds } from "./builds.ts";
export type { BuildSettings } from "./plan.ts";
