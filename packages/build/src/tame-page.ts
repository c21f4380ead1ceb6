/**
 * What a frozen page may consist of: text, tables, pictures, drawings and form controls, none of which loads, sends or
 * opens anything. `link` and `meta` do, even where a policy forbids the rest: they look up a domain, or leave the page.
 */
const elements = new Set(
  [
    "html head body title style main article section nav aside header footer hgroup address h1 h2 h3 h4 h5 h6 p div span",
    "br hr wbr a abbr b bdi bdo cite code data dfn del em i ins kbd mark q s samp small strong sub sup time u var pre",
    "blockquote ul ol li dl dt dd menu figure figcaption picture img details summary dialog table caption colgroup col",
    "thead tbody tfoot tr th td button input label select option optgroup textarea fieldset legend meter progress output",
    "ruby rt rp font center tt strike big search math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle msub msup",
    "msubsup munder mover munderover mtable mtr mtd mpadded mphantom menclose merror mmultiscripts mprescripts semantics",
    "annotation svg g path rect circle ellipse line polyline polygon text tspan textpath defs symbol use lineargradient",
    "radialgradient stop clippath mask pattern marker desc foreignobject filter fegaussianblur feoffset feblend feflood fecomposite",
    "femerge femergenode fecolormatrix fedropshadow switch",
  ]
    .join(" ")
    .split(" "),
);

/**
 * A frozen page as it may be shown: every other element becomes an unknown one, which does nothing. A tag begins nowhere
 * but at `<` and a letter, so this needs no parser. Names with a hyphen are unknown ones already.
 */
export function tamePage(html: string): string {
  return html.replaceAll(/<(\/?)([a-z][^\s/>]*)/gi, (tag, slash: string, name: string) =>
    elements.has(name.toLowerCase()) || /^[a-z][a-z0-9]*-[a-z0-9-]*$/i.test(name) ? tag : `<${slash}x-${name}`,
  );
}
