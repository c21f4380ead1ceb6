import { type DiffRow, diffWords } from "@emend/contract";
import { type Finding, FindingNote } from "./finding-note.tsx";
import { HunkText, LineText, numberCell, signed, textCell } from "./line-text.tsx";

export function UnifiedRow({ row, findings }: { row: DiffRow; findings: readonly Finding[] }) {
  const { left, right } = row;
  const words = row.isEdited && left && right ? diffWords(left.text, right.text) : null;
  return (
    <>
      {left?.kind === "deleted" && (
        <tr className="bg-del">
          <td className={numberCell}>{left.before}</td>
          <td className={numberCell} />
          <td className={signed("−")}>
            <LineText text={left.text} spans={words?.before} mark="del" />
          </td>
        </tr>
      )}
      {right?.kind === "added" && (
        <tr className="bg-add">
          <td className={numberCell} />
          <td className={numberCell}>{right.after}</td>
          <td className={signed("+")}>
            <LineText text={right.text} spans={words?.after} mark="ins" />
          </td>
        </tr>
      )}
      {right?.kind === "context" && (
        <tr>
          <td className={numberCell}>{right.before}</td>
          <td className={numberCell}>{right.after}</td>
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
      {findings.map((finding, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
        <tr key={index}>
          <td colSpan={3} className="p-0">
            <FindingNote finding={finding} />
          </td>
        </tr>
      ))}
    </>
  );
}
