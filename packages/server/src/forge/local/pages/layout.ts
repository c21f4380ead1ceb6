import { type Html, html, visibleText } from "./html.ts";

export interface PageContext {
  /** The path part of the public URL, without a trailing slash: links are absolute within this origin. */
  basePath: string;
  stylePath: string;
  /** Null for those who show a key or nothing. */
  session: { subject: string } | null;
}

/** One frame for every page of the local forge. No script at all: it must work where scripts are refused. */
export function layout(
  context: PageContext,
  page: { title: string; trail: readonly { label: string; path?: string }[]; main: Html },
): string {
  const { basePath } = context;
  const trail = page.trail.map(
    ({ label, path }) => html`<li>${path === undefined ? label : html`<a href="${basePath}${path}">${label}</a>`}</li>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${visibleText(page.title)} · Emend</title>
<link rel="stylesheet" href="${basePath}${context.stylePath}">
</head>
<body>
<header class="bar"><div class="wide">
<a class="mark" href="${basePath}/">${mark}Emend</a>
<nav aria-label="Breadcrumb"><ol>${trail}</ol></nav>
${context.session && html`<a href="${basePath}/app">Dashboard</a>`}
${
  context.session && html`<form method="post" action="${basePath}/logout"><button class="plain">Log out</button></form>`
}
</div></header>
<main class="wide">
${page.main}
</main>
</body>
</html>
`.markup;
}

/** The proofreader's caret: something is to be put in here. */
const mark = html`<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M3 17 10 5l7 12" fill="none" stroke="currentColor" stroke-width="2.500" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
