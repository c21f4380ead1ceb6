import { type Html, html } from "./html.ts";
import { layout, type PageContext } from "./layout.ts";

/** A page that says one thing: why there is nothing else to see. */
export function noticePage(context: PageContext, notice: { title: string; words: Html }): string {
  return layout(context, {
    title: notice.title,
    trail: [],
    main: html`<section class="notice"><h1>${notice.title}</h1>${notice.words}</section>`,
  });
}

export const notices = {
  signIn: {
    title: "Log in to see this page",
    words: html`<p>This page shows a repository's text, so it needs a login.</p>
<p>An administrator can create a one-time login link:</p>
<pre><code>emend user link</code></pre>
<p>Programs may send an API key of the project as <code>Authorization: Bearer …</code> instead.</p>`,
  },
  linkGone: {
    title: "This link has been used or has expired",
    words: html`<p>A link works once, and not for ever. Ask an owner for another invitation, or print another link on the machine
that runs Emend:</p>
<pre><code>emend user link</code></pre>`,
  },
  notFound: {
    title: "Nothing here",
    words: html`<p>Page not found, or your key does not cover its project.</p>`,
  },
  unreadable: {
    title: "This request could not be read",
    words: html`<p>Go back to the page and try again.</p>`,
  },
  unavailable: {
    title: "Not now",
    words: html`<p>The database cannot be reached at the moment. Try again in a little while.</p>`,
  },
  busy: {
    title: "One moment",
    words: html`<p>Too many of these pages are being made for you at once. Try again in a moment.</p>`,
  },
  fault: {
    title: "Something went wrong here",
    words: html`<p>It has been noted in the server's log. Nothing was lost; try again.</p>`,
  },
  forbidden: {
    title: "Reading only",
    words: html`<p>This key may read the project but not change it.</p>`,
  },
} as const;
