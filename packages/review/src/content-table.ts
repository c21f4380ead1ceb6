/**
 * The table of what counts as content. Everything here is text or a harmless construct for every parser that builders
 * use. What is not in the table passes only if a page of the repository already has the very same construct.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** HTML elements that only arrange text. Not here: raw text (`pre`, `style`), foreign content, frames and forms. */
export const elements = words(`
  a abbr article aside audio b bdi blockquote br caption center cite code col colgroup dd del details dfn div dl dt em
  figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p picture q rp rt ruby s samp
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
  className cols color colspan columns controls cta collapsible date datetime default defaultOpen defaultValue deprecated
  description dir disabled display emoji end expanded filename group groupId headers height hidden horizontal icon
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

/** Languages whose blocks every builder shows as text. Blocks in others may be drawn, embedded or run. */
export const languages = words(`
  text txt plain plaintext none no-highlight openmetrics markdoc react npm package-install nocode math katex ansi log output diff patch sh shell bash zsh fish ksh csh console terminal command cli
  shellscript shellsession sh-session bash-session powershell ps1 pwsh cmd bat batch dos js javascript mjs cjs jsx ts
  typescript mts tsx json json5 jsonc jsonl ndjson node py py3 py2 python python3 pycon pytb pyi ipython rb ruby irb erb
  php perl lua luau r julia jl java kotlin kt kts scala groovy gradle clojure clj go golang go-html-template gotmpl rust rs
  rust,ignore c h cpp c++ cc hpp cs csharp c# fsharp f# vb swift objc objective-c objectivec dart zig nim crystal elixir
  exs erlang haskell hs ocaml ml elm reason purescript sql psql postgres postgresql plsql tsql mysql sqlite graphql gql
  promql logql flux influxql yaml yml toml ini env dotenv properties conf config cfg editorconfig gitignore git-commit
  gitattributes csv tsv html html+erb xhtml xml xsl svg css scss sass less stylus postcss vue vue-html svelte astro angular
  hbs handlebars ejs pug haml slim liquid jinja jinja2 html+jinja html+django django twig njk nunjucks mustache md markdown
  mdx mdc rst rest restructuredtext asciidoc adoc asc tex latex bibtex http https curl uri url docker dockerfile
  containerfile compose nginx apache apacheconf caddy caddyfile haproxy makefile make mk cmake ninja just bazel starlark
  nix hcl terraform tf bicep pulumi ssh ssh-config systemd desktop proto protobuf thrift avro capnp prisma solidity move
  cairo wasm wat asm nasm llvm glsl hlsl wgsl metal cuda regex ebnf bnf abnf peg vim viml lisp elisp emacs-lisp scheme
  racket awk sed jq kql splunk spl cypher sparql turtle n3 rego cue dhall jsonnet json-doc ron edn applescript autohotkey
  ahk tcl ada fortran cobol pascal delphi matlab octave sas stata mathematica verilog vhdl gdscript gherkin feature robot
  po pot dns zone crontab cron reg manifest mod sum lock treeview tree filetree rout pem asn1 hex hexdump mermaid
  typescriptreact javascriptreact webidl wit qml objdump vba xquery coffee coffeescript livescript imba rescript
`);

/** Words behind a fence's language that only change how it looks. */
export const fenceFlags =
  /^(?:\{[\d,\s-]*\}|\{ ?(?:(?:\.[\w-]+|(?:file|filename|title|caption|name|copy|details|open|summary|trim|style|tabWidth|linenos|lineNos|linenostart|hl_lines)=(?:"[^"<>{}\\`]*"|\w+))(?: |(?=\})))+\}|\[[\w .+#/@():~-]*\]|:(?:no-)?line-numbers(?:=\d+)?|(?:showLineNumbers|lines|wrap|nowrap|copy|no-copy|nocopy|expandable|collapsed|collapsible|twoslash|linenums|numberLines|line-numbers|title|ignore|noplayground|no_run|should_panic|does_not_compile|not_desired_behavior|panics|compile_fail|edition20\d\d|noplaypen|word:\w+|npm2yarn|sync)|(?:title|caption|filename|name|icon|label|linenums|linenostart|linenos|hl_lines|highlight|lines|start|startLineNumber|showLineNumbers|ins|del|mark|focus|frame|collapse|theme|add|remove|tab|lang|language|line|style|emphasize-lines|lineNumbers|meta|style|wrap|copy)=(?:"[^"<>{}\\`]*"|'[^'<>{}\\`]*'|\{["'\d,\s\w.-]*\}|[\w.,/-]+)|\/[^/`]+\/|"[^"<>{}\\`]*"|'[^'<>{}\\`]*'|[A-Z][\w.+#()/-]*|(?=[^ ]*[./])[\w@./-]+|[-&|+])$/;

/** Markers at the start of a line that open or close a block whose content is read as text. */
export const blockMarkers: readonly RegExp[] = [
  /^:{3,}[ \t]*(?:note|tip|info|warning|danger|caution|important|success|secondary|details|code-group|steps|hint|error|attention|seealso|expandable|tabs|tab)?(?=[ \t[]|$)/,
  /^:{3,}\{(?:note|tip|info|warning|danger|caution|important|hint|attention|error|seealso|admonition|dropdown|tab-set|tab-item|versionadded|versionchanged|deprecated)\}(?=[ \t]|$)/,
  /^(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+(?:inline(?:[ \t]+end)?|[\w-]+))*(?=[ \t]+"|[ \t]*$)/,
  /^===[!+]?[ \t]+(?=")/,
  /^> \[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION|INFO|DANGER|SUCCESS|QUESTION|EXAMPLE|QUOTE|TODO)\][+-]?/i,
];
/** Everything that some builder reads as such a marker. */
export const blockMarker =
  /^(?::{3,}|::\w|!!!|\?\?\?|===[!+]?[ \t]+["']|\/{3,}[ \t]*\w|\|\|\||<<<|\+\+\+|;;;|%%%|~~~|@\[|@@@|> \[!|\^\^\^|@import|!include|\$\$include|.*-8<-)/i;
/** Lines that stand for a file, in their exact form. */
export const includeForms: readonly RegExp[] = [
  /^<<<[ \t]*([^\s{}#[\]]+)(?:#[\w-]+)?(?:[ \t]*\{[\w\d,:# -]*\})?(?:[ \t]*\[[\w .-]*\])?$/,
  /^--8<-- "([\w./-]+)"$/,
];

/** `{…}` that names, groups or repeats nothing: heading ids, classes and sizes. */
export const braceForms: readonly RegExp[] = [
  /^\{:? *(?:[.#][A-Za-z][\w:.-]* *|(?:width|height|align|loading|target|rel|start|title)=(?:"[^"<>{}\\`&]*"|[\w%-]+) *|style="[\w :;%#.-]*" *)+\}$/,
  /^\{:?(?:toc|\.no_toc)\}$/,
  /^\{#[^\s{}<>"'`=\\]+\}$/,
];
/** In MDX: a blank, a remark, or a literal. */
export const expressionForms: readonly RegExp[] = [
  /^\{\s*(?:"[^"<>{}\\`]*"|'[^'<>{}\\`]*'|`[^<>{}\\`$]*`|-?[\d.]+|true|false|null)\s*\}$/,
  /^\{\/\*(?:(?!\*\/)[^{}])*\*\/\}$/,
  /^\{#[^\s{}<>"'`=\\]+\}$/,
];
/** Template tags of GitBook, Jekyll and Hugo that show their text; `name` and literal arguments. */
export const templateForms: readonly RegExp[] = [
  /^\{% *(?:end(?:hint|tabs?|code|content-ref|stepper|step|columns?|highlight|note|warning|tip)|tabs|stepper|step|columns|column|note|warning|tip|raw|endraw) *%\}$/,
  /^\{% *(?:hint|tab|code|column|step) +(?:(?:style|title|overflow|lineNumbers|width)="[^"<>{}\\`]*" *)+%\}$/,
  /^\{% *(?:end)?openapi *(?:(?:src|path|method|expanded)="[^"<>\\`]*" *)*%\}$/,
  /^\{% *(?:link|post_url) +[\w./-]+ *%\}$/,
  /^\{% *highlight +[\w+#-]+(?: +linenos)? *%\}$/,
  /^\{\{[<%] *\/?(?:note|warning|tip|caution|info|important|details|alert|pageinfo|tabs|tab|tabpane|steps|step|callout|hint)(?: +(?:(?:title|color|name|header|lang|style|type|summary|open|caption)=)?"[^"<>{}\\`]*")* *[%>]\}\}$/,
  /^\{\{[<%] *(?:(?:ref|relref) +"[\w./#-]+"|param +"?[\w.-]+"?) *[%>]\}\}$/,
];

/** First words of HTML comments that editors' tools read and builders don't. */
export const comments =
  /^<!-- ?(?:prettier-ignore(?:-start|-end)?|markdownlint-[\w-]+|textlint-[\w-]+|vale [\w. =]+|spell-checker:[\w ,]+|cspell:[\w ,]+|more|truncate|toc|TODO|NOTE|FIXME)(?:(?!--)[^<>{}\\`@#$])*-->$|^<!-- ?[A-Z][a-z]+[ ,.][\w ,.'’();/\n-]*-->$/;

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
  group-tab code-tab tab-set tab-item grid grid-item grid-item-card card dropdown function method attribute data exception
  class module currentmodule py:function py:method py:attribute py:data py:exception py:class py:module option program
  envvar describe confval cmdoption currentmodule math line-block compound container
`);
export const directiveOptions =
  /^:(?:linenos|lineno-start|emphasize-lines|caption|name|alt|width|height|scale|align|class|maxdepth|hidden|titlesonly|glob|numbered|reversed|header-rows|stub-columns|widths|columns|depth|local|backlinks|force|dedent|number-lines|sync|open|icon|noindex|no-index|no-index-entry|nosearch|orphan|tocdepth|canonical|type|value|default|module|sorted|collapsible|gutter|padding|margin|text-align|figwidth|figclass|language|order|color|animate|selected):(?:[ \t]|$)/;
export const roles = words(`
  ref doc term numref eq any abbr command dfn file guilabel kbd mailheader makevar manpage menuselection mimetype newsgroup
  program regexp samp pep rfc envvar token keyword option class func meth mod attr data exc obj const type py:class py:func
  py:meth py:mod py:attr py:data py:exc py:obj py:const py:deco c:func c:type c:macro c:member js:func js:class code math
  sub sup subscript superscript emphasis strong literal title-reference title index confval deco cpp:func cpp:class
  gh issue pr ghpr bpo source issues user commit
`);

/** AsciiDoc: block attributes that only format. The first word is the block's style, the others only name. */
export const asciidocBlocks =
  /^\[(?:source|listing|literal|quote|verse|example|sidebar|abstract|partintro|NOTE|TIP|WARNING|CAUTION|IMPORTANT|discrete|float|horizontal|qanda|glossary|appendix|preface|colophon|bibliography|index|dedication|loweralpha|upperalpha|lowerroman|upperroman|arabic|tabs)?(?:[%#.][\w-]+)*(?:(?:(?<=\[)|, ?)(?:(?:cols|options|opts|width|frame|grid|stripes|caption|role|id|start|separator|format|linenums|highlight|title|indent|language|attribution|citetitle|reversed)="?[\w ,.*<>^;%=+:|-]*"?|(?<!\[)(?:[\w+#.' -]+|"[\w ,.*<>^;%=+:|-]*"|%\w+)))*\]$/;
/** Attributes of a document that only name or number. */
export const asciidocAttributes =
  /^(?:description|keywords|page-[\w-]+|navtitle|author|email|revdate|revnumber|toc(?:levels|-title)?|sectnums|sectanchors|idprefix|idseparator|experimental|icons|source-language|title|[\w-]+-(?:caption|label|title|signifier))$/;
/** Macros that only name or show. */
export const asciidocMacros = words(
  "xref link image kbd btn menu footnote anchor indexterm indexterm2 icon mailto term",
);
/** Attributes of AsciiDoc itself that are characters. */
export const asciidocCharacters = words(`
  nbsp zwsp sp empty blank lt gt amp vbar caret asterisk tilde backslash backtick plus deg apos quot lsquo
  rsquo ldquo rdquo brvbar cpp pp wj
`);
