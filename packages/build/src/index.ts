export { type Builds, type BuildsConfig, createBuilds } from "./builds.ts";
export type { BuildSettings } from "./plan.ts";
export type { PagePicture } from "./take-pictures.ts";
