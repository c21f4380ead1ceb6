import type { Mergeability } from "../mergeability.ts";
import type { LocalPullRequest } from "../pull-requests.ts";
import type { PullRequestDiff } from "../read-diff.ts";
import { diffView } from "./diff-view.ts";
import { type Html, html, visible } from "./html.ts";
import { icon } from "./icons.ts";
import { layout, type PageContext } from "./layout.ts";
import { renderMarkdown } from "./markdown.ts";
import { badge, moment } from "./state-badge.ts";

export interface PullView {
  project: { id: string; name: string };
  pullRequest: LocalPullRequest;
  diff: PullRequestDiff;
  mergeability: Mergeability;
  mayWrite: boolean;
  cloneUrl: string;
  /** What just went wrong, for whoever pressed a button. */
  alert: string | null;
}

export function pullPage(context: PageContext, view: PullView): string {
  const { project, pullRequest } = view;
  const pulls = `/forge/${project.id}/pulls`;
  return layout(context, {
    title: `${pullRequest.title} · #${pullRequest.number}`,
    trail: [{ label: project.name }, { label: "Pull requests", path: pulls }],
    main: html`
${view.alert !== null && html`<p class="alert" role="alert">${icon("warning")} ${view.alert}</p>`}
<header class="head">
  <h1>${visible(pullRequest.title)} <span class="number">#${pullRequest.number}</span></h1>
  <p class="meta">${badge(pullRequest)}
    <span><code>${visible(pullRequest.headRef)}</code> into <code>${visible(pullRequest.baseRef)}</code></span>
    <span class="quiet">opened ${moment(pullRequest.createdAt)}</span></p>
</header>
<div class="columns">
  <article class="body">${renderMarkdown(pullRequest.body)}</article>
  <aside>
    ${mergeCard(context, view)}
    ${checksCard(pullRequest)}
    ${cloneCard(view)}
  </aside>
</div>
${diffView(view.diff)}`,
  });
}

function mergeCard(context: PageContext, view: PullView): Html {
  const { pullRequest, mergeability } = view;
  const action = `${context.basePath}/forge/${view.project.id}/pull/${pullRequest.number}`;
  const status = statusWords(pullRequest, mergeability);
  return html`<section class="card merge">
  <h2>${status.title}</h2>
  ${status.words}
  ${pullRequest.state === "open" && view.mayWrite && buttons(action, pullRequest, mergeability)}
  ${pullRequest.state === "open" && !view.mayWrite && html`<p class="quiet">Merging takes the write right.</p>`}
</section>`;
}

function buttons(action: string, pullRequest: LocalPullRequest, mergeability: Mergeability): Html {
  const merge =
    mergeability.kind === "clean" &&
    !pullRequest.draft &&
    html`<form method="post" action="${action}/merge">
      <input type="hidden" name="head" value="${mergeability.head}">
      <button class="primary">Merge</button>
    </form>`;
  const ready =
    pullRequest.draft && html`<form method="post" action="${action}/ready"><button>Mark ready</button></form>`;
  return html`<div class="buttons">${merge}${ready}<form method="post" action="${action}/close"><button>Close</button></form></div>`;
}

function statusWords(pullRequest: LocalPullRequest, mergeability: Mergeability): { title: string; words: Html } {
  if (pullRequest.state === "merged") {
    const commit = pullRequest.mergeCommit !== null && html` as <code>${pullRequest.mergeCommit.slice(0, 10)}</code>`;
    const by = pullRequest.mergedBy !== null && html` by ${pullRequest.mergedBy}`;
    return { title: "Merged", words: html`<p>${moment(pullRequest.updatedAt)}${by}${commit}.</p>` };
  }
  if (pullRequest.state === "closed") {
    return {
      title: "Closed",
      words: html`<p>${moment(pullRequest.updatedAt)}, without merging. The branch is kept.</p>`,
    };
  }
  switch (mergeability.kind) {
    case "clean":
      return pullRequest.draft
        ? {
            title: "A draft",
            words: html`<p>It merges cleanly, but asks to be read first. Mark it ready to merge it.</p>`,
          }
        : { title: "Ready to merge", words: html`<p class="good">${icon("check")} Merges cleanly.</p>` };
    case "conflicts":
      return {
        title: "Conflicts",
        words: html`<p class="bad">${icon("cross")} Both sides changed:</p>
<ul class="paths">${mergeability.paths.map((path) => html`<li><code>${visible(path)}</code></li>`)}</ul>
<p class="quiet">Merge <code>${visible(pullRequest.baseRef)}</code> into the branch, settle these files and push.</p>`,
      };
    case "blocked":
      return { title: "Cannot be merged", words: html`<p class="bad">${icon("cross")} ${mergeability.reason}</p>` };
    case "contained":
      return { title: "Already there", words: html`<p>The base holds every commit of this branch.</p>` };
  }
}

function checksCard({ checks }: LocalPullRequest): Html {
  if (checks.length === 0) return html``;
  const items = checks.map(({ name, verdict, detail }) => {
    const isGood = verdict === "passed";
    return html`<li><span class="${isGood ? "good" : "warn"}">${icon(isGood ? "check" : "warning")} <strong>${visible(name)}</strong> ${verdict}</span>
      <span class="quiet">${visible(detail)}</span></li>`;
  });
  return html`<section class="card"><h2>Checks</h2><ul class="checks">${items}</ul></section>`;
}

function cloneCard({ cloneUrl, pullRequest }: PullView): Html {
  return html`<section class="card"><h2>On your machine</h2>
<pre><code>git clone ${cloneUrl}
git switch ${visible(pullRequest.headRef)}</code></pre>
<p class="quiet">Any user name; an API key of the project as the password.</p></section>`;
}
