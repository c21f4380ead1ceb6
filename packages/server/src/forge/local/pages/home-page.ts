import type { LocalProject } from "../caller.ts";
import { html, visible } from "./html.ts";
import { layout, type PageContext } from "./layout.ts";

/** Where a login without a place to go lands: every project of this forge that the reader may see. */
export function homePage(
  context: PageContext,
  projects: readonly (LocalProject & { openPullRequests: number })[],
): string {
  const rows = projects.map(
    ({ id, name, openPullRequests: open }) => html`<li>
  <span class="count">${open} open</span>
  <a href="${context.basePath}/forge/${id}/pulls">${visible(name)}</a>
  <span class="quiet"><code>${id}</code></span>
</li>`,
  );
  return layout(context, {
    title: "Projects",
    trail: [],
    main: html`<header class="head"><h1>Projects</h1></header>
${
  rows.length > 0
    ? html`<ul class="pulls">${rows}</ul>`
    : html`<p class="empty">None yet. <code>emend project add NAME --forge local --repo PATH</code> makes one.</p>`
}`,
  });
}
