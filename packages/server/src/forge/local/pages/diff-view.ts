import type { PullRequestDiff } from "../read-diff.ts";
import { type Html, html, visible } from "./html.ts";
import { icon } from "./icons.ts";
import type { DiffFile, DiffLine } from "./parse-diff.ts";
import { diffWords, type Span } from "./word-diff.ts";

const linesShownMax = 5_000;
const filesOpenMax = 40;
const lineCharactersMax = 2_000;

/** Every file of the diff, foldable; past the bound only names and figures. */
export function diffView(diff: PullRequestDiff): Html {
  let linesLeft = linesShownMax;
  const files = diff.files.map((file, index) => {
    const lines = diff.lines[index] ?? null;
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
  const words = pairWords(lines);
  return html`<div class="lines"><table><tbody>${lines.map((line) => lineView(line, words.get(line)))}</tbody></table></div>`;
}

function lineView(line: DiffLine, words: readonly Span[] | undefined): Html {
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

/** A run of deleted lines followed by as many added ones is taken as the same lines, edited. */
function pairWords(lines: readonly DiffLine[]): Map<DiffLine, readonly Span[]> {
  const words = new Map<DiffLine, readonly Span[]>();
  for (let at = 0; at < lines.length; ) {
    const deletedEnd = endOfRun(lines, at, "deleted");
    const addedEnd = endOfRun(lines, deletedEnd, "added");
    const length = deletedEnd - at;
    if (length > 0 && addedEnd - deletedEnd === length) {
      for (let offset = 0; offset < length; offset += 1) {
        const before = lines[at + offset];
        const after = lines[deletedEnd + offset];
        const changed = before && after && diffWords(before.text, after.text);
        if (changed) words.set(before, changed.before).set(after, changed.after);
      }
    }
    at = Math.max(addedEnd, at + 1);
  }
  return words;
}

function endOfRun(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return end;
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
