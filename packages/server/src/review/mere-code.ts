/**
 * Languages whose blocks every renderer shows as they are. Others may be drawn (mermaid, plantuml), embedded or run:
 * what is not known to be shown counts as a part of the page.
 */
const languages = new Set(
  `text txt plain plaintext none ansi log diff patch
  sh shell bash zsh fish ksh console terminal shellscript shellsession powershell ps1 pwsh cmd bat batch dos nu
  js javascript mjs cjs jsx ts typescript mts cts tsx json json5 jsonc jsonl ndjson node coffee
  py python py3 python3 pycon ipython rb ruby erb php pl perl lua tcl r julia matlab octave
  java kotlin kt kts scala groovy gradle clojure clj go golang rust rs c h cpp c++ cc cxx hpp cs csharp c# fs fsharp vb
  swift objc objective-c objectivec dart zig nim crystal d v elixir ex exs erlang erl haskell hs ocaml ml elm purescript
  sql psql pgsql mysql postgres postgresql plsql tsql sqlite graphql gql cypher promql sparql redis mongodb
  yaml yml toml ini env dotenv properties conf config cfg editorconfig gitignore ignore csv tsv
  html htm xml svg xhtml xsl css scss sass less styl stylus postcss vue svelte astro angular hbs handlebars ejs pug jade
  liquid jinja jinja2 twig njk nunjucks mustache haml slim razor
  md markdown mdx rst asciidoc adoc tex latex bibtex bib
  http https httpie curl rest hurl uri url
  docker dockerfile compose nginx apache caddy caddyfile makefile make cmake bazel starlark just nix hcl terraform tf bicep
  puppet pp systemd service ssh-config ssh sshconfig k8s kubernetes helm
  proto protobuf thrift avro prisma solidity sol vyper move cairo wasm wat wast asm nasm glsl hlsl wgsl cuda
  regex regexp bnf ebnf abnf vim viml emacs lisp elisp scheme racket fennel applescript autohotkey awk sed jq`.split(
    /\s+/,
  ),
);

/** By which plugins run a block, at build or in the reader's browser: its language, or a flag right behind it. */
const runningLanguage = /^\{(?:code-cell|python|r|julia|ojs|bash|eval-rst|jupyter.*)\}?/i;
const flag = "(?:live|preview|playground|run|runnable|exec|execute|eval|evaluate|repl|sandbox|interactive)";
const runningFlag = new RegExp(`^\\{?\\s*\\.?${flag}(?![\\w-])|\\b${flag}=(?!["'{]?(?:off|no|false|0)\\b)`);

/** Whether some builder or site runs a block between fences. */
export function runs(opening: string, words: string): boolean {
  return runningLanguage.test(opening) || runningFlag.test(words) || runningFlag.test(opening.replace(/^[\w+#-]+/, ""));
}

/** Whether a block between fences, by its language, is shown and nothing more. */
export function isMereCode(opening: string, words: string): boolean {
  if (opening === "") return true;
  const [, name = ""] = /^([\w+#-]+)(?:$|[:,{[(.=])/.exec(opening) ?? [];
  return languages.has(name.toLowerCase()) && !runs(opening, words);
}
