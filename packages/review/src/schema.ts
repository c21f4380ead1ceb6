/**
 * What is content for every builder. Everything else is unknown, unless a page of the site has it already. These lists
 * stay short on purpose: what is missing costs one question, what is wrong costs a reader.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** HTML elements that only arrange text. */
export const elements = words(`
  a abbr article aside b bdi blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption
  figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p picture pre q rt ruby s samp section
  small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr
`);

/** HTML elements that act without an attribute, or change how a browser reads what follows. An unknown name does neither. */
export const actingElements =
  /^(?:audio|button|canvas|datalist|dialog|fieldset|font|form|frame|iframe|image|input|isindex|keygen|link|listing|marquee|math|menu|meter|nextid|noembed|noframes|noscript|optgroup|option|output|param|plaintext|portal|progress|rp|search|select|slot|style|svg|template|textarea|title|video|xmp|head|html|body|include|annotation.*|m[ions]|mtext|desc|foreignobject|.*[:-].*)$/i;

/** Attributes of these whose literal value is shown, or only arranges. */
export const attributes = words(`
  abbr align alt aria-hidden aria-label border cellpadding cellspacing class classname cols colspan controls datetime dir
  disabled height hreflang id lang loading loop markdown muted open playsinline preload rel reversed role rowspan
  scope size span start summary target title type valign value width kind label srclang decoding
`);
export const addressAttributes = words("href src poster cite data-src to url link image");
/** A style that neither loads nor hides. */
export const plainStyle =
  /^\s*(?:(?:width|height|(?:max|min)-(?:width|height)|float|text-align|margin(?:-\w+)?|padding(?:-\w+)?|border(?:-radius)?|vertical-align|white-space|font-(?:weight|style)|list-style(?:-type)?|text-decoration|clear|gap|align-items|justify-content|flex(?:-\w+)?|object-fit|aspect-ratio)\s*:\s*(?!none|0(?![.\d])|0?\.)[#\w.%, -]+(?:;\s*|$))*$/i;
/** Classes by which many themes hide text. */
export const hidingClass =
  /(?<![\w-])(?:hidden|hide|invisible|d-none|sr-only|visually-hidden|is-hidden|collapse)(?![\w-])/i;

/** Blocks that some builder draws, embeds or runs. */
export const drawnLanguage =
  /^(?:mermaid|math|k?tex|latex|asciimath|plantuml|puml|uml|dot|graphviz|viz|vega|vega-?lite|chart\w*|echarts|d2|ditaa|abc|svgbob|wavedrom|kroki\w*|flow\w*|sequence\w*|nomnoml|bpmn|excalidraw|pikchr|structurizr|tikz|markmap|infographic|geojson|topojson|stl|pyodide|iframe|embed|video|youtube|svg-?\w*raw|preview|playground|demo|live\w*|eval-?\w*|exec\w*|repl|jsx-live|vue-demo|marimo|jupyter\w*|goat|mindmap|timeline|query|dataview\w*|component|widget|mdx-code-block|[\w-]+-vue|raw|include|slide\w*|termynal|example|snippet|tabs|cardlink|npm2yarn|columns?|output|card\w*)$/i;
export const runningMeta =
  /(?:^|[\s{,.])(?:live|preview|playground|run\w*|exec\w*|eval\w*|repl|sandbox|interactive|reference|embed|twoslash|file|source|path|src|href|include|expression|results|session|editable)(?![\w-])/i;
export const drawnActive =
  /<(?!br ?\/?>|[-|=.o*\s\d<])|%%\s*\{|(?:^|\n)\s*links?\s|\bclick\b|\bhref\b|\burl\b|\bimg\s*:|script\s*:|\/\/|!(?:include|import)|@(?:start|import)|data\s*:/i;
/** Mathematics that links, loads or defines. */
export const activeTex =
  /\\(?:href|url|html\w*|require|cssId|class|style|include\w*|input|unicode|mmlToken|bbox)\s*(?:[{[]|$)|\\(?:[gex]?def|let|(?:re)?new(?:command|environment))\b/m;

/** Directives of Markdown, MyST and reStructuredText that only format the text in them. */
export const directives = words(`
  admonition attention caution danger error hint important note tip warning info success question example seealso todo
  details secondary versionadded versionchanged versionremoved deprecated image figure table list-table code code-block
  sourcecode parsed-literal highlight contents rubric topic sidebar epigraph highlights pull-quote centered hlist glossary
  index productionlist function method attribute data exception class module option program envvar describe confval
  cmdoption currentmodule line-block compound container toctree math doctest testcode code-group steps tab tabs expandable
  hint check quote abstract bug tabs-item caption list grid
`);
export const directiveOptions =
  /^(?:linenos|lineno-start|emphasize-lines|caption|name|alt|width|height|scale|align|class|maxdepth|hidden|titlesonly|glob|numbered|reversed|header-rows|stub-columns|widths|columns|depth|local|backlinks|force|dedent|number-lines|noindex|no-index\S*|nosearch|orphan|tocdepth|canonical|type|value|default|module|sorted|figwidth|figclass|language|order|open|icon|color|text|sync|target)$/;
export const roles = words(`
  ref doc term numref eq any abbr command dfn file guilabel kbd mailheader makevar manpage menuselection mimetype newsgroup
  program regexp samp pep rfc envvar token keyword option class func meth mod attr data exc obj const type code math sub
  sup subscript superscript emphasis strong literal title-reference title index confval
`);

/** Fields of reStructuredText's own lists. */
export const fieldLists =
  /^(?:param|type|returns?|rtype|raises?|arg|keyword|ivar|var|vartype|meta|orphan|author|date|status|version)$/i;

/** Front matter that names, orders and describes a page. Other fields must be on a page of the site. */
export const fields =
  /^(?:title|description|sidebar\w*|slug|id|icon\w*|tags?|keywords|authors?|date|last_?updated|updated|weight|order|position|nav_\w+|parent|has_children|grand_parent|toc\w*|hide\w*|pagination_\w+|prev|next|outline|aside|editLink|draft|unlisted|hidden|noindex|status|summary|subtitle|linktitle|menu|aliases|categor(?:y|ies)|section|type|mode|deprecated|public|version|since|image|canonical|label|redirect_from|search|tableOfContents|label|name|url|api|contributors|created|modified|published|lang|language)$/i;
/** Fields that choose what is drawn: only with the very value that another page has. */
export const exactFields =
  /^(?:layout|template|css|styles?|stylesheets?|extra_\w+|filters?|format|render\w*|cascade|outputs?|eleventy\w*|permalink|components?|extends|mdx|markup|_?build|resources?|on[a-z]{3,}|html|raw|code|path|file|src|import|exports?|include\w*|plugins?|openapi)$/i;

/** AsciiDoc: block styles, document attributes and macros that only format. */
export const asciidocStyles =
  /^(?:source|listing|literal|quote|verse|example|sidebar|abstract|partintro|NOTE|TIP|WARNING|CAUTION|IMPORTANT|discrete|float|horizontal|qanda|glossary|appendix|preface|colophon|bibliography|index|dedication|(?:lower|upper)(?:alpha|roman)|arabic|tabs)?$/;
export const asciidocOptions =
  /^(?:subs|options|opts|cols|width|frame|grid|stripes|caption|role|id|start|lines|linenums|highlight|title|indent|language|attribution|citetitle|%\w+|alt|height|align|window|reftext)$/;
export const asciidocAttributes =
  /^!?(?:description|keywords|page-(?!liquid\b)[\w-]+|navtitle|author|email|revdate|revnumber|toc(?:levels|-title)?|sectnums|sectanchors|idprefix|idseparator|experimental|source-language|title|[\w-]+-(?:caption|label|title|signifier))!?$/;
export const asciidocMacros = words(
  "xref link image kbd btn menu footnote anchor indexterm indexterm2 icon mailto term",
);

/** MDX: modules of the documentation frameworks, and files of the docs. */
export const frameworkModules =
  /^(?:@theme(?:-original)?|@docusaurus|@astrojs\/starlight|nextra(?:-theme-docs)?|fumadocs-ui|@mintlify|@rspress\/core|rspress)(?:\/(?!\.)[\w/-]+)+$/;
export const importable = /^(?:\.{1,2}\/|\/|@site\/|@\/|~\/)[\w@./-]*\.(?:mdx?|png|jpe?g|gif|webp|avif|svg)$/i;
