import { type DiffRow, diffWords, lineCharactersMax, type Span } from "@emend/contract";
import { createContext, type ReactNode, useContext } from "react";
import { VisibleText } from "../parts/text.tsx";
import type { Side } from "./file-editor.tsx";
import { type Finding, FindingNote } from "./finding-note.tsx";

/** How the lines of one file are reviewed. Null: they are not. */
export const AtLine = createContext<{
  onLine: ((side: Side, line: number) => void) | null;
  notes(side: Side, line: number): ReactNode;
  onEdit: ((line: number) => void) | null;
} | null>(null);

/** A line's number, which starts a comment. For the keyboard there is one button a file: a diff has many lines. */
function LineNumber({ side, line }: { side: Side; line: number }) {
  const onLine = useContext(AtLine)?.onLine;
  if (!onLine) return line;
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={`Comment on ${side === "before" ? "removed " : ""}line ${line}`}
      className="w-full rounded-xs text-right hover:bg-accent hover:text-on-accent"
      onClick={() => onLine(side, line)}
    >
      {line}
    </button>
  );
}

/** The comments below a row. */
function Notes({ row, columns }: { row: DiffRow; columns: number }) {
  const review = useContext(AtLine);
  if (!review) return null;
  const { left, right } = row;
  const before = left?.kind === "deleted" ? review.notes("before", left.before) : null;
  const after = right && "after" in right ? review.notes("after", right.after) : null;
  if (!before && !after) return null;
  return (
    <tr>
      <td colSpan={columns} className="border-y border-line bg-hush p-0">
        {before}
        {after}
      </td>
    </tr>
  );
}

export function UnifiedRow({ row, findings }: { row: DiffRow; findings: readonly Finding[] }) {
  const { left, right } = row;
  const onEdit = useContext(AtLine)?.onEdit;
  const words = row.isEdited && left && right ? diffWords(left.text, right.text) : null;
  return (
    <>
      {left?.kind === "deleted" && (
        <tr className="bg-del">
          <td className={numberCell}>
            <LineNumber side="before" line={left.before} />
          </td>
          <td className={numberCell} />
          <td className={signed("−")}>
            <LineText text={left.text} spans={words?.before} mark="del" />
          </td>
        </tr>
      )}
      {right?.kind === "added" && (
        <tr className="bg-add">
          <td className={numberCell} />
          <td className={numberCell}>
            <LineNumber side="after" line={right.after} />
          </td>
          <td className={signed("+")}>
            <LineText text={right.text} spans={words?.after} mark="ins" />
          </td>
        </tr>
      )}
      {right?.kind === "context" && (
        <tr>
          <td className={numberCell}>{right.before}</td>
          <td className={numberCell}>
            <LineNumber side="after" line={right.after} />
          </td>
          <td className={signed(" ")}>
            <LineText text={right.text} mark="ins" />
          </td>
        </tr>
      )}
      {(right?.kind === "hunk" || right?.kind === "note") && (
        <tr className="bg-hush text-quiet">
          <td className={numberCell} />
          <td className={numberCell} />
          <td className={`${textCell} py-1`}>
            <HunkText text={right.text} />
          </td>
        </tr>
      )}
      <Notes row={row} columns={3} />
      {findings.map((finding, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
        <tr key={index}>
          <td colSpan={3} className="p-0">
            <FindingNote finding={finding} onEdit={onEdit} />
          </td>
        </tr>
      ))}
    </>
  );
}

export function SplitRow({ row, findings }: { row: DiffRow; findings: readonly Finding[] }) {
  const { left, right } = row;
  const onEdit = useContext(AtLine)?.onEdit;
  if (right?.kind === "hunk" || right?.kind === "note") {
    return (
      <tr className="bg-hush text-quiet">
        <td className={numberCell} />
        <td className={`${textCell} py-1`} colSpan={3}>
          <HunkText text={right.text} />
        </td>
      </tr>
    );
  }
  const words = row.isEdited && left && right ? diffWords(left.text, right.text) : null;
  const isDeleted = left?.kind === "deleted";
  const isAdded = right?.kind === "added";
  const leftColour = isDeleted ? "bg-del" : left ? "" : "bg-hush";
  const rightColour = isAdded ? "bg-add" : right ? "" : "bg-hush";
  return (
    <>
      <tr>
        <td className={`${numberCell} ${leftColour}`}>
          {left?.kind === "deleted" ? (
            <LineNumber side="before" line={left.before} />
          ) : (
            left && "before" in left && left.before
          )}
        </td>
        <td className={`${signed(isDeleted ? "−" : " ")} ${leftColour} border-r border-line`}>
          {left && <LineText text={left.text} spans={words?.before} mark="del" />}
        </td>
        <td className={`${numberCell} ${rightColour}`}>
          {right && "after" in right && <LineNumber side="after" line={right.after} />}
        </td>
        <td className={`${signed(isAdded ? "+" : " ")} ${rightColour}`}>
          {right && <LineText text={right.text} spans={words?.after} mark="ins" />}
        </td>
      </tr>
      <Notes row={row} columns={4} />
      {findings.map((finding, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
        <tr key={index}>
          <td colSpan={4} className="p-0">
            <FindingNote finding={finding} onEdit={onEdit} />
          </td>
        </tr>
      ))}
    </>
  );
}

/** A line with its changed words marked, if known. Very long lines are truncated. */
function LineText(props: { text: string; spans?: readonly Span[]; mark: "del" | "ins" }) {
  const { mark: Mark, text, spans } = props;
  if (!spans) {
    return (
      <>
        <VisibleText text={text.slice(0, lineCharactersMax)} />
        {text.length > lineCharactersMax && (
          <i className="text-quiet">… {text.length - lineCharactersMax} more characters</i>
        )}
      </>
    );
  }
  return spans.map((span, index) => {
    const words = <VisibleText text={span.text} />;
    // biome-ignore lint/suspicious/noArrayIndexKey: the words of a line never move
    if (!span.isChanged) return <span key={index}>{words}</span>;
    const look = Mark === "del" ? "bg-del-word line-through decoration-1" : "bg-add-word no-underline";
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the words of a line never move
      <Mark key={index} className={`rounded-xs ${look}`}>
        {words}
      </Mark>
    );
  });
}

/** The hunk's position, on one line however long its heading is. */
function HunkText({ text }: { text: string }) {
  return (
    <span className="block truncate" title={text}>
      <VisibleText text={text} />
    </span>
  );
}

const numberCell = "w-8 px-1 text-right align-top text-[11px] text-quiet select-none md:w-12 md:px-2 md:text-[12px]";

const textCell = "relative py-0 pr-3 pl-6 align-top whitespace-pre-wrap wrap-anywhere";

const signs = { "+": "before:content-['+']", "−": "before:content-['−']", " ": "" } as const;

function signed(sign: keyof typeof signs): string {
  return `${textCell} before:absolute before:left-2 ${signs[sign]}`;
}

const linePx = 20;
/** Of the padding of a text's cell, and of the row of a hunk's position. */
const [textPaddingPx, hunkPaddingPx] = [36, 8];
/** A finding's note is as wide as its row, in smaller letters. */
const noteOf = { paddingPx: 16, moreColumns: 11, moreText: "Warning, line 100: ".length };

/** How many characters a line of text holds in a diff as wide as this element. */
export function columnsIn(element: HTMLElement, isSplit: boolean): number {
  const probe = document.createElement("span");
  probe.className = "invisible absolute font-mono text-[13px]";
  probe.textContent = "0".repeat(100);
  element.append(probe);
  const characterPx = probe.getBoundingClientRect().width / 100;
  probe.remove();
  const numbersPx = 2 * (matchMedia("(min-width: 48rem)").matches ? 48 : 32);
  const textPx = (element.getBoundingClientRect().width - numbersPx) / (isSplit ? 2 : 1) - textPaddingPx;
  return Math.max(1, Math.floor(textPx / characterPx));
}

/** The height of rows that are not rendered yet. A page moves by as much as it is wrong. */
export function heightOf(
  rows: readonly DiffRow[],
  look: { columns: number; isSplit: boolean; byLine: ReadonlyMap<number, readonly Finding[]> },
): number {
  const heightPx = (line: DiffRow["left"]) => (line ? linePx * wrappedLines(line.text, look.columns) : 0);
  let sumPx = 0;
  for (const { left, right, isEdited } of rows) {
    if (right?.kind === "hunk" || right?.kind === "note") sumPx += linePx + hunkPaddingPx;
    else if (isEdited && !look.isSplit) sumPx += heightPx(left) + heightPx(right);
    else sumPx += Math.max(heightPx(left), heightPx(right));
    for (const { message } of (right && "after" in right && look.byLine.get(right.after)) || []) {
      const lines = Math.ceil((message.length + noteOf.moreText) / (look.columns + noteOf.moreColumns));
      sumPx += noteOf.paddingPx + lines * linePx;
    }
  }
  return sumPx;
}

/** A word up to where browsers break a line: after spaces, tabs and hyphens, and between the parts of a Markdown link. */
const breakable = /((?:[^\s\]-]|\](?!\())*(?:-+|\](?=\())?)(\s*)/g;

/** How many lines browsers make of a text of one width. They break a word only if it is longer than a line. */
function wrappedLines(text: string, columns: number): number {
  if (text.length <= columns && !text.includes("\t")) return 1;
  let lines = 1;
  let at = 0;
  for (const [, word = "", space = ""] of text.slice(0, lineCharactersMax).matchAll(breakable)) {
    if (at > 0 && at + word.length > columns) {
      lines += 1;
      at = 0;
    }
    const over = Math.max(0, Math.ceil((at + word.length) / columns) - 1);
    lines += over;
    at += word.length - over * columns;
    // Spaces at the end of a line take no place.
    for (const one of space) at = Math.min(columns, one === "\t" ? at + 4 - (at % 4) : at + 1);
  }
  return lines;
}
