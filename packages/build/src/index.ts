export { type Builds, type BuildsConfig, createBuilds } from "./builds.ts";
export type { BuildSettings } from "./plan.ts";
export type { TakenScreenshot } from "./screenshots.ts";
export { findChromium, type PagePicture } from "./take-pictures.ts";
export { builtEdit, builtPage, type Seen, watchChange } from "./watch-change.ts";
