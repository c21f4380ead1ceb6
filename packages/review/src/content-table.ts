/**
 * The table of what counts as content. Everything here is text or a harmless construct for every parser that builders
 * use. What is not in the table passes only if a page of the repository already has the very same construct.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** HTML elements that only arrange text. Not here: raw text (`pre`, `style`), foreign content, frames and forms. */
export const elements = words(`
  a abbr article aside audio b bdi blockquote br caption center cite code col colgroup dd del details dfn div dl dt em
  figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p picture q rt ruby s samp
  section small source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var video wbr
  Accordion AccordionGroup AccordionItem Accordions Aside Badge Callout Caption Card CardGroup CardGrid Cards Check Columns
  Column CodeGroup CodeGroupItem Danger Details Expandable ExpandableGroup FileTree Frame Icon Info LinkButton LinkCard
  Note ParamField Panel RequestExample ResponseExample ResponseField Step StepItem Steps Summary Tab TabItem TabList
  TabPanel Tabs Tip Tooltip Tree.File Tree.Folder Tree Update Warning Visibility Cards.Card FileTree.File FileTree.Folder
  Tabs.Tab
`);

/** Elements that end the page's usual reading: their whole text, up to the closing tag, is one construct. */
export const rawElements =
  /^(?:script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext|template|svg|math|object|embed|include|applet|frameset|pre|head|body|html)$/i;

/** Attributes whose literal value is shown, or only arranges. */
export const attributes = words(`
  abbr align alt anchor ariaLabel aria-label aria-hidden author badge bordered border caption cellpadding cellspacing class
  className cols colspan columns controls cta collapsible date datetime default defaultOpen defaultValue deprecated
  description dir disabled display emoji end expanded filename group groupId heading headers height horizontal icon
  iconType id img imgAlt initialValue isClosed isOpen items k key kind label lang layout level loading loop markdown muted
  name noZoom open optional path placeholder plain playsinline position query queryString rel required reversed role
  rowspan scope size span start status subtitle summary syncKey tag tags target text theme tip title titleSize type valign
  value variant version vertical width zoom defaultIndex header body cta arrow rss
`);

/** Elements whose text some Markdown parsers leave alone up to their closing tag. */
export const blockElements =
  /^(?:article|aside|blockquote|center|details|div|dl|figure|figcaption|footer|h[1-6]|header|main|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|tr|ul|video|audio|[A-Z].*)$/;

/** Attributes that hold one address; all but `href`-like ones load it without a click. */
export const addressAttributes = words("href src poster cite to url link srcLight srcDark dark light image");

/**
 * Languages whose blocks every builder shows as text: those that at least two of Shiki, highlight.js, Prism and Pygments
 * color, and a few of documentation sites. Blocks in others may be drawn, embedded or run.
 */
export const languages = words(`
  1c abap abnf actionscript ada adoc agda ahk angular angular-html angular-ts ansi apache apacheconf apex apl
  applescript arduino armasm art arturo as asc asciidoc asm asn1 aspectj astro atom autohotkey autoit avro awk
  ballerina bash bash-session basic bat batch bazel bbcode be berry bf bibtex bicep blade bnf bqn brainfuck bro bsl c
  c# c++ caddy caddyfile cairo capnp cc ceylon cfc cfg chaiscript cjs clean cli clj cljs clojure clojurescript cmake
  cmd cobol codeowners codeql coffee coffeescript command common-lisp compose conf config console containerfile coq cpp
  cr crmsh cron crontab crystal cs csh csharp csp css csv cts cuda cue curl cypher cython d dart dax delphi desktop
  devicetree dhall diff django dns do docker dockerfile dos dosbatch doscon dotenv dtd dts ebnf editorconfig edn eiffel
  ejs elisp elixir elm emacs emacs-lisp env erb erl erlang ex exs f# f90 f95 factor feature fennel filetree fish fluent
  flux fortran fs fsharp ftl gap gas gawk gcode gd gdscript gdshader gherkin git-commit gitattributes gitignore gleam
  glsl gml gn go go-html-template golang golo gotmpl gql gradle graphql groovy h hack haml handlebars haproxy haskell
  haxe hbs hcl hex hexdump hjson hlsl hpp hs html html+django html+erb html+jinja htmldjango http https hx hxml hy
  hylang i7 icon idl idr idris iex imba influxql inform7 ini ino io ipython irb j jade java javascript javascriptreact
  jinja jinja2 jl jlcon jq js json json-doc json-ld json5 jsonc jsonl jsonld jsonnet jsp jsx julia julia-repl just k
  katex kconfig kotlin kql ksh kt kts kusto lasso lassoscript latex ldif lean lean4 less liquid lisp livescript llvm
  lock log logql lsl lua luau make makefile manifest markdoc markdown math mathematica matlab maxima md mdc mdx
  mediawiki mel mermaid meson metal mips mipsasm mizar mjs mk ml mma mod mojo monkey moo moon moonscript move mts
  mustache mysql n1ql n3 nasm nb ndjson nestedtext nextflow nginx nim ninja nix nixos njk no-highlight nocode node
  nodejsrepl none npm nsis nt nu nunjucks nushell obj-c obj-c++ objc objdump objective-c objective-c++ objectivec
  objectpascal ocaml octave odin openmetrics openscad output package-install pas pascal patch pcmk peg pem perl perl6
  php pl plain plaintext plpgsql plsql po pony postcss postgres postgres-console postgresql pot powerquery powershell
  prisma processing prolog promql properties proto protobuf ps ps1 ps1con psql pug pulumi puppet purebasic purescript
  pwsh pwsh-session py py2 py3 pycon pyi pytb python python2 python3 q ql qml r racket raku razor rb rbcon react reason
  reasonml reg regex regexp rego rescript rest restructuredtext riscv rkt roboconf robot robotframework ron rout rs rsl
  rss rst ruby rust rust,ignore sas sass scad scala scheme scilab scm scss sed sh sh-session shell shell-session
  shellscript shellsession slim smali smalltalk smarty sml solidity soy sparql spl splunk sqf sql sqlite ssh ssh-config
  st stan starlark stata styl stylus sum supercollider sv svelte svg swift system-verilog systemd systemverilog tap tcl
  tcsh templ terminal terraform tex text tf tfvars thrift toml tree treeview ts tsql tsv tsx turtle twig txt typescript
  typescriptreact typespec typoscript typst udiff uri url v vala vb vba vbnet vbscript velocity verilog vhdl vim viml
  vimscript visual-basic vue vue-html vyper wasm wat webidl wgsl wiki wikitext wit wl wolfram wren x++ xhtml xls xlsx
  xml xq xqm xquery xsl xslt yaml yang yml zeek zephir zig zone zsh
`);

/** Words behind a fence's language that only change how it looks. */
export const fenceFlags =
  /^(?:\{[\d,\s-]*\}|\{ ?(?:(?:\.[\w-]+|(?:file|filename|title|caption|name|copy|details|open|summary|trim|style|tabWidth|linenos|lineNos|linenostart|hl_lines)=(?:"[^"<>{}\\`]*"|\w+))(?: |(?=\})))+\}|\[[\w .+#/@():~-]*\]|:(?:no-)?line-numbers(?:=\d+)?|(?:showLineNumbers|lines|wrap|nowrap|copy|no-copy|nocopy|expandable|collapsed|collapsible|twoslash|linenums|numberLines|line-numbers|title|ignore|noplayground|no_run|should_panic|does_not_compile|not_desired_behavior|panics|compile_fail|edition20\d\d|noplaypen|word:\w+|npm2yarn|sync)|(?:title|caption|filename|name|icon|label|linenums|linenostart|linenos|hl_lines|highlight|lines|start|startLineNumber|showLineNumbers|ins|del|mark|focus|frame|collapse|theme|add|remove|tab|lang|language|line|style|emphasize-lines|lineNumbers|meta|style|wrap|copy)=(?:"[^"<>{}\\`]*"|'[^'<>{}\\`]*'|\{["'\d,\s\w.-]*\}|[\w.,/-]+)|\/[^/`]+\/|"[^"<>{}\\`]*"|'[^'<>{}\\`]*'|[A-Z][\w.+#()/-]*|(?=[^ ]*[./])[\w@./-]+|[-&|+])$/;

/** Markers at the start of a line that open or close a block whose content is read as text. */
export const blockMarkers: readonly RegExp[] = [
  /^:{3,}[ \t]*(?:$|(?:note|tip|info|warning|danger|caution|important|success|secondary|details|code-group|steps|hint|error|attention|seealso|expandable|tabs|tab)(?=[ \t[]|$))/,
  /^(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+(?:inline(?:[ \t]+end)?|[\w-]+))*(?=[ \t]+"|[ \t]*$)/,
  /^===[!+]?[ \t]+(?=")/,
  /^\/{3,}[ \t]*(?:(?:note|attention|caution|danger|error|tip|hint|warning|info|important|check|success|question|example|quote|abstract|details|tab|caption)(?:[ \t]*\||[ \t]*$)|$)/,
  /^> \[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION|INFO|DANGER|SUCCESS|QUESTION|EXAMPLE|QUOTE|TODO)\][+-]?/i,
];
/** Everything that some builder reads as such a marker. */
export const blockMarker =
  /^(?::{3,}|::\w|\.\. [\w:-]+::|!!!|\?\?\?|===[!+]?[ \t]+["']|\/{3,}[ \t]*\w|\|\|\||<<<|\+\+\+|;;;|%%%|~~~|@\[|@@@|> \[!|\^\^\^|@import|!include|\$\$include|.*-8<-)/i;
/** Lines that stand for a file, in their exact form. */
export const includeForms: readonly RegExp[] = [
  /^<<<[ \t]*([^\s{}#[\]]+)(?:#[\w-]+)?(?:[ \t]*\{[\w\d,:# -]*\})?(?:[ \t]*\[[\w .-]*\])?$/,
  /^--8<-- "([\w./-]+)"$/,
];

/** `{…}` that names, groups or repeats nothing: heading ids, classes and sizes. */
export const braceForms: readonly RegExp[] = [
  /^\{:? *(?:[.#][A-Za-z][\w:.-]* *|(?:width|height|align|loading|target|rel|start|title)=(?:"[^"<>{}\\`&]*"|[\w%-]+) *|style="(?:(?:width|height|max-width|float|text-align): ?[1-9a-z][\w%.]*;? ?)*" *)+\}$/,
  /^\{:?(?:toc|\.no_toc)\}$/,
  /^\{#(?!_)[^\s{}<>"'`=\\]+\}$/,
];
/** In MDX: a blank, a remark, or a literal. */
export const expressionForms: readonly RegExp[] = [
  /^\{\s*(?:"[^"<>{}\\`]*"|'[^'<>{}\\`]*'|`[^<>{}\\`$]*`|-?[\d.]+|true|false|null)\s*\}$/,
  /^\{\/\*(?:(?!\*\/)[^{}])*\*\/\}$/,
  /^\{#(?!_)[^\s{}<>"'`=\\]+\}$/,
];
/** Template tags of GitBook, Jekyll and Hugo that show their text; `name` and literal arguments. */
export const templateForms: readonly RegExp[] = [
  /^\{% *(?:end(?:hint|tabs?|code|content-ref|stepper|step|columns?|highlight|note|warning|tip)|tabs|stepper|step|columns|column|note|warning|tip) *%\}$/,
  /^\{% *(?:hint|tab|code|column|step) +(?:(?!src|url|href)\w+="[^"<>{}\\`]*" *)+%\}$/,
  /^\{% *(?:end)?openapi *(?:(?:src|path|method|expanded)="[^"<>\\`]*" *)*%\}$/,
  /^\{% *highlight +[\w+#-]+(?: +linenos)? *%\}$/,
  /^\{\{[<%] *\/?(?:note|warning|tip|caution|info|important|details|alert|pageinfo|tabs|tab|tabpane|steps|step|callout|hint)(?: +(?:(?:title|color|name|header|lang|style|type|summary|open|caption)=)?"[^"<>{}\\`]*")* *[%>]\}\}$/,
];
/** Templates that stand for an address or a word. What they stand for is unknown, so nothing may join it. */
export const valueForms: readonly RegExp[] = [
  /^\{% *(?:link|post_url) +[\w./-]+ *%\}$/,
  /^\{\{[<%] *(?:(?:ref|relref) +"[\w./#-]+"|param +"?[\w.-]+"?) *[%>]\}\}$/,
  /^\{\{ *(?:site\.(?:base)?url|(["'])(?!\/\/)[\w./#-]+\1 *\| *(?:relative|absolute)_url) *\}\}$/,
];

/** HTML elements that do something without an attribute. An unknown one is nothing but its text. */
export const actingElements =
  /^(?:base|button|canvas|datalist|dialog|fieldset|font|form|frame|image|input|isindex|keygen|listing|link|marquee|menu|meta|meter|nextid|optgroup|option|output|param|portal|progress|rp|search|select|slot|track|.*:.*)$/i;

/** First words of HTML comments that editors' tools read and builders don't. */
export const comments =
  /^<!-- ?(?:prettier-ignore(?:-start|-end)?|markdownlint-[\w-]+|textlint-[\w-]+|vale [\w. =]+|spell-checker:[\w ,]+|cspell:[\w ,]+|more|truncate|toc|TODO|NOTE|FIXME)(?:(?!--)[^<>{}\\`@#$])*-->$|^<!-- ?[A-Z][a-z]+[ ,.][\w ,.'’();/\n-]*-->$|^<!-- (?!(?:include|import|embed|insert|run|exec\w*|eval\w*|code|load)\b)(?:[a-z]+(?:['’-][a-z]+)*[,.]? ){3,}-->$/;

/** A comment of words or of Markdown. What is in it must be content as well, because parsers end comments differently. */
export const wordyComment = /^<!--\s*(?:[A-Z][\w’'-]*[\s,.:]|#{1,6} |[-*+] |\d+[.)] |\| |\*\*|\[[^[\]\n]+\]\()/;

/** Front matter that themes and builders run, load or choose templates by: only as another page has it. */
export const runningKeys =
  /^(?:layout|template|head|heads?er?s?|scripts?|javascripts?|js|css|styles?|stylesheets?|extra_?\w*|hooks?|engine|execute|filters?|format|jupyter\w*|jupytext|kernelspec|render\w*|cascade|outputs?|eleventy\w*|permalink|pagination|component|components|extends|mdx|markup|build|_build|injections?|resources?|on[a-z]{3,}|html|raw|code|path|file|src|import|exports?|include\w*|plugins?|generator|sitemap|robots)$/i;
/** Other keys that any page may have. Keys besides these must be on a page of the repository. */
export const plainKeys = words(`
  title description sidebarTitle sidebar_label sidebar_position sidebar_class_name sidebar slug id icon iconType tag tags
  keywords author authors date lastUpdated last_updated updated weight order position nav_order nav_title parent
  has_children grand_parent toc toc_max_heading_level toc_min_heading_level hide hide_title hide_table_of_contents
  pagination_label pagination_next pagination_prev prev next outline aside editLink draft unlisted hidden noindex status
  summary subtitle linkTitle linktitle menu aliases category categories section type mode deprecated public version since
  image og_image canonical api openapi label redirect_from redirect_to search tableOfContents content_type sort_rank
`);

/** Schemes of addresses. Others open programs, run code, or read local files. */
export const schemes = /^(?:https?|mailto|tel|sms|ftp|irc|ircs|xmpp|doi|ref):/i;

/** reStructuredText: directives that only format, their options, and roles that only name. */
export const directives = words(`
  admonition attention caution danger error hint important note tip warning seealso todo versionadded versionchanged
  versionremoved deprecated figure image table list-table code code-block sourcecode parsed-literal highlight toctree
  contents rubric topic sidebar epigraph highlights pull-quote centered hlist glossary index productionlist tab tabs
  group-tab code-tab tab-set tab-set-code tab-item grid grid-item grid-item-card card card-carousel dropdown function method attribute data exception
  class module currentmodule py:function py:method py:attribute py:data py:exception py:class py:module option program
  envvar describe confval cmdoption currentmodule math line-block compound container only
`);
export const directiveOptions =
  /^:(?:linenos|lineno-start|emphasize-lines|caption|name|alt|width|height|scale|align|class|maxdepth|hidden|titlesonly|glob|numbered|reversed|header-rows|stub-columns|widths|columns|depth|local|backlinks|force|dedent|number-lines|sync|open|icon|noindex|no-index|no-index-entry|nosearch|orphan|tocdepth|canonical|type|value|default|module|sorted|collapsible|gutter|padding|margin|text-align|figwidth|figclass|language|order|color|animate|selected|outline|shadow|link-type|link-alt|class-[\w-]+|reverse|auto|child-\w+):(?:[ \t]|$)/;
export const roles = words(`
  ref doc term numref eq any abbr command dfn file guilabel kbd mailheader makevar manpage menuselection mimetype newsgroup
  program regexp samp pep rfc envvar token keyword option class func meth mod attr data exc obj const type py:class py:func
  py:meth py:mod py:attr py:data py:exc py:obj py:const py:deco c:func c:type c:macro c:member js:func js:class code math
  sub sup subscript superscript emphasis strong literal title-reference title index confval deco cpp:func cpp:class
  gh issue pr ghpr bpo source issues user commit
`);

const asciidocOptions =
  "(?:header|footer|autowidth|rotate|linenums|nowrap|noheader|nofooter|collapsible|open|reversed|unnumbered|hardbreaks|breakable|unbreakable|notitle|horizontal|interactive)";
const asciidocSubs = "(?:quotes|attributes|macros|callouts|replacements)";
/** AsciiDoc: block attributes that only format. The first word is the block's style, the others only name. Substitutions are added, so that `<` stays text. */
export const asciidocBlocks = new RegExp(
  String.raw`^\[(?:source|listing|literal|quote|verse|example|sidebar|abstract|partintro|NOTE|TIP|WARNING|CAUTION|IMPORTANT|discrete|float|horizontal|qanda|glossary|appendix|preface|colophon|bibliography|index|dedication|loweralpha|upperalpha|lowerroman|upperroman|arabic|tabs)?(?:[#.][\w-]+|%${asciidocOptions})*(?:(?:(?<=\[)|, ?)(?:subs="?(?:(?:\+${asciidocSubs}|${asciidocSubs}\+)(?:, ?(?=\+|\w+\+)|(?=[",\]])))+"?|(?:options|opts)="?${asciidocOptions}(?:, ?${asciidocOptions})*"?|cols="?[\w ,.*<>^%|+-]*"?|(?:width|frame|grid|stripes|caption|role|id|start|lines|linenums|highlight|title|indent|language|attribution|citetitle|reversed)="?[\w ,.*^;%:|-]*"?|(?<!\[)(?:[\w+#.' -]+|"[\w ,.*^;%:|-]*"|%${asciidocOptions})))*\]$`,
);
/** Attributes of a document that only name or number. */
export const asciidocAttributes =
  /^(?:description|keywords|page-(?!liquid\b)[\w-]+|navtitle|author|email|revdate|revnumber|toc(?:levels|-title)?|sectnums|sectanchors|idprefix|idseparator|experimental|source-language|title|[\w-]+-(?:caption|label|title|signifier))$/;
/** Macros that only name or show. */
export const asciidocMacros = words(
  "xref link image kbd btn menu footnote anchor indexterm indexterm2 icon mailto term",
);
/** Attributes of AsciiDoc itself that are characters. */
export const asciidocCharacters = words(`
  nbsp zwsp sp empty blank vbar caret asterisk tilde backslash backtick plus deg apos quot lsquo
  rsquo ldquo rdquo brvbar cpp pp wj
`);

/** What films and sounds show where they do not work. */
export const unsupported = /^(?:(?:Sorry, )?Your browser (?:does not|doesn't) support [\w -]+[.!]?)?$/i;
/** Classes by which many themes hide text. */
export const hidingClass =
  /(?<![\w-])(?:hidden|hide|invisible|d-none|sr-only|visually-hidden|is-hidden|collapse)(?![\w-])/i;
/** Pictures by their address from the root of a site. */
export const rootPicture = /^(?:\/[\w-][\w .%-]*)+\.(?:png|jpe?g|gif|svg|webp|avif|ico|mp4|webm)$/i;
/** MDX: modules that pages may import, by name. */
export const moduleForm = /^import (?:([A-Za-z]\w*)|\{(?:\s*\w+\s*,)*(?:\s*\w+)?\s*\}) from ["']([\w@./-]+)["'];?\s*$/;
export const frameworkModules =
  /^(?:@theme(?:-original)?|@docusaurus|@astrojs\/starlight|nextra(?:-theme-docs)?|fumadocs-ui|@mintlify|@rspress\/core|rspress)(?:\/(?!\.)[\w/-]+)+$/;
export const importable = /^(?:\.{1,2}\/|\/|@site\/|@\/|~\/)[\w@./-]*\.(?:mdx?|png|jpe?g|gif|webp|avif)$/i;
