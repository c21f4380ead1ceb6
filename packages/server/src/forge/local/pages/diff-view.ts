import {
  type DiffLine,
  type DiffRow,
  diffWords,
  lineCharactersMax,
  pairLines,
  parsePatch,
  type Span,
} from "@emend/contract";
import type { DiffFile } from "../parse-diff-files.ts";
import type { PullRequestDiff } from "../read-diff.ts";
import { type Html, html, visible } from "./html.ts";
import { icon } from "./icons.ts";

const linesShownMax = 5_000;
const filesOpenMax = 40;

/** Every file of the diff, foldable; past the bound only names and figures. */
export function diffView(diff: PullRequestDiff): Html {
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
