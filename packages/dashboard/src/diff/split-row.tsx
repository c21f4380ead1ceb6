import { type DiffRow, diffWords } from "@emend/contract";
import { type Finding, FindingNote } from "./finding-note.tsx";
import { HunkText, LineText, numberCell, signed, textCell } from "./line-text.tsx";

export function SplitRow({ row, findings }: { row: DiffRow; findings: readonly Finding[] }) {
  const { left, right } = row;
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
        <td className={`${numberCell} ${leftColour}`}>{left && "before" in left ? left.before : ""}</td>
        <td className={`${signed(isDeleted ? "−" : " ")} ${leftColour} border-r border-line`}>
          {left && <LineText text={left.text} spans={words?.before} mark="del" />}
        </td>
        <td className={`${numberCell} ${rightColour}`}>{right && "after" in right ? right.after : ""}</td>
        <td className={`${signed(isAdded ? "+" : " ")} ${rightColour}`}>
          {right && <LineText text={right.text} spans={words?.after} mark="ins" />}
        </td>
      </tr>
      {findings.map((finding, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
        <tr key={index}>
          <td colSpan={4} className="p-0">
            <FindingNote finding={finding} />
          </td>
        </tr>
      ))}
    </>
  );
}
