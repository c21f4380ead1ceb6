import type { Builder } from "./builders/builder.ts";
import { docsify } from "./builders/docsify.ts";
import { fumadocs } from "./builders/fumadocs.ts";
import { docusaurus, mintlify, nextra, starlight, vitepress } from "./builders/npm-builders.ts";
import { hugo, jekyll, mdbook, mkdocs, sphinx } from "./builders/system-builders.ts";

export const builders: readonly Builder[] = [
  mkdocs,
  vitepress,
  docusaurus,
  starlight,
  nextra,
  mintlify,
  hugo,
  jekyll,
  sphinx,
  mdbook,
  docsify,
  fumadocs,
];
