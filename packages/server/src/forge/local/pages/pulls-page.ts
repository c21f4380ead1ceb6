import type { LocalPullRequest } from "../pull-requests.ts";
import { html, visible } from "./html.ts";
import { layout, type PageContext } from "./layout.ts";
import { badge, moment } from "./state-badge.ts";

export interface PullsView {
  project: { id: string; name: string };
  pullRequests: readonly LocalPullRequest[];
  cloneUrl: string;
}

export function pullsPage(context: PageContext, view: PullsView): string {
  const { project, pullRequests } = view;
  const pulls = `/forge/${project.id}/pulls`;
  const rows = pullRequests.map(
    (pullRequest) => html`<li>
  ${badge(pullRequest)}
  <a href="${context.basePath}/forge/${project.id}/pull/${pullRequest.number}">${visible(pullRequest.title)}</a>
  <span class="quiet">#${pullRequest.number} · <code>${visible(pullRequest.headRef)}</code> into <code>${visible(pullRequest.baseRef)}</code> · ${moment(pullRequest.createdAt)}</span>
</li>`,
  );
  return layout(context, {
    title: `Pull requests · ${project.name}`,
    trail: [{ label: project.name }, { label: "Pull requests", path: pulls }],
    main: html`<header class="head"><h1>Pull requests</h1>
<p class="meta quiet"><span>Clone: <code>${view.cloneUrl}</code></span></p></header>
${
  rows.length > 0
    ? html`<ul class="pulls">${rows}</ul>`
    : html`<p class="empty">None yet. A job that changes a file opens one.</p>`
}`,
  });
}
