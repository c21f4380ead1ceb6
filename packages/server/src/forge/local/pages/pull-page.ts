import {
  type DiffLine,
  type DiffRow,
  diffWords,
  lineCharactersMax,
  pairLines,
  parsePatch,
  type Span,
} from "@emend/contract";
import markdownIt from "markdown-it";
import { hideMarks } from "../hide-marks.ts";
import type { Mergeability } from "../mergeability.ts";
import type { LocalPullRequest } from "../pull-requests.ts";
import type { DiffFile, PullRequestDiff } from "../read-diff.ts";
import { type Html, html, trustedHtml, visible, visibleText } from "./html.ts";
import { icon } from "./icons.ts";
import { layout, type PageContext } from "./layout.ts";
import { badge, moment } from "./state-badge.ts";

interface PullView {
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

const bodyCharactersMax = 65_536;

const renderer = createRenderer();

/** A pull request's body. No HTML, no images (they would tell a stranger who reads), links that name no referrer. */
function renderMarkdown(text: string): Html {
  // The marks are for programs; where HTML is off they would show.
  return trustedHtml(renderer.render(visibleText(hideMarks(text.slice(0, bodyCharactersMax)))));
}

function createRenderer() {
  const md = markdownIt({ html: false, linkify: false, typographer: false });
  md.disable("image");
  md.renderer.rules.link_open = (tokens, index, options, _env, self) => {
    tokens[index]?.attrSet("rel", "nofollow noreferrer");
    return self.renderToken(tokens, index, options);
  };
  return md;
}

const linesShownMax = 5_000;
const filesOpenMax = 40;

/** Every file of the diff, foldable; past the bound only names and figures. */
function diffView(diff: PullRequestDiff): Html {
  let linesLeft = linesShownMax;
  const allLines = parsePatch(diff.patch);
  const files = diff.files.map((file, index) => {
    const lines = allLines[index] ?? null;
    const shown = lines && lines.length <= linesLeft ? lines : null;
    linesLeft -= shown?.length ?? 0;
    return fileView(file, { id: `file-${index + 1}`, lines: shown, isOpen: index < filesOpenMax });
  });
  return html`<section class="diff" aria-label="Changes">
    <h2>${diff.files.length} ${diff.files.length === 1 ? "file" : "files"} changed ${figures(total(diff.files))}</h2>
    ${diff.files.length === 0 && html`<p class="quiet">The branch holds nothing that the base does not.</p>`}
    ${files}
  </section>`;
}

function fileView(file: DiffFile, view: { id: string; lines: readonly DiffLine[] | null; isOpen: boolean }): Html {
  return html`<details class="file" id="${view.id}"${view.isOpen && html` open`}>
    <summary>
      ${icon("chevron")}<span class="path">${fileName(file)}</span>
      ${file.status !== "modified" && html`<span class="tag">${file.status}</span>`}${figures(file)}
    </summary>
    ${view.lines === null ? tooLarge : linesView(view.lines)}
  </details>`;
}

const tooLarge = html`<p class="quiet">Too much to show here: clone the branch to read this file.</p>`;

function fileName(file: DiffFile): Html {
  if (file.pathBefore === null) return visible(file.path);
  return html`<span class="before">${visible(file.pathBefore)}</span> → ${visible(file.path)}`;
}

function linesView(lines: readonly DiffLine[]): Html {
  if (lines.length === 0) return html`<p class="quiet">No line changed.</p>`;
  const rows = pairLines(lines, { stacked: true });
  return html`<div class="lines"><table><tbody>${rows.map(rowView)}</tbody></table></div>`;
}

function rowView({ left, right, isEdited }: DiffRow): Html {
  if (left !== null && left === right) return lineView(left);
  const words = isEdited && left && right ? diffWords(left.text, right.text) : null;
  return html`${left && lineView(left, words?.before)}${right && lineView(right, words?.after)}`;
}

function lineView(line: DiffLine, words?: readonly Span[]): Html {
  switch (line.kind) {
    case "hunk":
    case "note":
      return html`<tr class="${line.kind}"><td></td><td></td><td>${visible(line.text)}</td></tr>`;
    case "context":
      return html`<tr><td>${line.before}</td><td>${line.after}</td><td data-sign=" ">${lineText(line.text)}</td></tr>`;
    case "deleted":
      return html`<tr class="del"><td>${line.before}</td><td></td><td data-sign="−">${words ? spans(words, "del") : lineText(line.text)}</td></tr>`;
    case "added":
      return html`<tr class="add"><td></td><td>${line.after}</td><td data-sign="+">${words ? spans(words, "ins") : lineText(line.text)}</td></tr>`;
  }
}

function spans(words: readonly Span[], tag: "del" | "ins"): readonly Html[] {
  return words.map(({ text, isChanged }) => {
    if (!isChanged) return visible(text);
    return tag === "del" ? html`<del>${visible(text)}</del>` : html`<ins>${visible(text)}</ins>`;
  });
}

function lineText(text: string): Html {
  if (text.length <= lineCharactersMax) return visible(text);
  return html`${visible(text.slice(0, lineCharactersMax))}<span class="unseen">… ${text.length - lineCharactersMax} more characters</span>`;
}

function figures(counts: { added: number | null; deleted: number | null }): Html {
  if (counts.added === null || counts.deleted === null) return html`<span class="figures quiet">binary</span>`;
  return html`<span class="figures"><span class="plus">+${counts.added}</span> <span class="minus">−${counts.deleted}</span></span>`;
}

function total(files: readonly DiffFile[]): { added: number; deleted: number } {
  return {
    added: files.reduce((sum, file) => sum + (file.added ?? 0), 0),
    deleted: files.reduce((sum, file) => sum + (file.deleted ?? 0), 0),
  };
}
