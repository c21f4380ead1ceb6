/**
 * What is refused at once. It is never documentation, so nobody is asked about it. Each entry says what to write instead.
 * MDX expressions and imports, and front matter that runs, pass only as exactly the text that a page of the site has.
 */
export const forbidden = {
  element: "Remove the element. Link to the page or describe it in words",
  handler: "Remove the event handler. Use a link or plain text",
  srcdoc: "Remove srcdoc. Link to a page instead",
  scheme: "Use an https or a relative address",
  outside: "Use a file inside the documentation folder",
  expression: "Write the value itself, or use a component as other pages do",
  import: "Import only what other pages import, or use Markdown",
  frontMatter: "Use plain values in front matter",
  configuration: "Change only navigation, redirects and plain values",
  raw: "Use a directive that formats text, or plain text",
} as const;
export type Instead = (typeof forbidden)[keyof typeof forbidden];

/** An `<iframe>` with an https address is unknown, not forbidden. */
export const forbiddenElements = /^(?:script|object|embed|base|meta|applet|frameset)$/i;
export const handler = /^(?:on[a-z]+|(?:v-on:|@|on:).*)$/i;
export const forbiddenAttributes = /^(?:srcdoc|v-html|dangerouslySetInnerHTML|set:html|formaction|innerHTML)$/i;
/** Schemes that run code or open what is on the reader's machine. */
export const forbiddenScheme = /^(?:(?:java|vb|live)script|data|file|blob|filesystem|view-source):/i;
/** Directives and roles that put their text unread into the page's HTML. */
export const rawOutput = /^(?:raw|raw-html|eval-rst|eval|exec|meta)$/i;
/** Front matter that themes put unread into the page, or that chooses a program. */
export const runningFields = /^(?:head|headers?|scripts?|javascripts?|js|hooks?|engine|jupytext|kernelspec|execute)$/i;
