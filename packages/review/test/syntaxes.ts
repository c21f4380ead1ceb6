import type { Flavor, Syntax } from "../src/syntax.ts";

const common: Flavor = { isMdx: false, isVue: false, templates: "", isUnsure: false };
const page = (more: Partial<Flavor> = {}, kind: Syntax["kind"] = "markdown"): Syntax => ({
  kind,
  path: "",
  flavor: { ...common, ...more },
});

/** How pages of each builder are read. */
export const syntaxes = {
  mdx: page({ isMdx: true }),
  common: page(),
  vue: page({ isVue: true }),
  python: page({ isUnsure: true }),
  liquid: page({ templates: "liquid", isUnsure: true }),
  hugo: page({ templates: "hugo" }),
  rst: page({}, "rst"),
  asciidoc: page({}, "asciidoc"),
  text: page({}, "text"),
  docusaurusConfig: { kind: "configuration", path: "docusaurus.config.ts", flavor: common },
} satisfies Record<string, Syntax>;
