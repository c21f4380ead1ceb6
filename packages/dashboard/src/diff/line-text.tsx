import { lineCharactersMax, type Span } from "@emend/contract";
import { VisibleText } from "../parts/visible-text.tsx";

/** A line, its changed words marked where they are known; a line of a megabyte is cut. */
export function LineText(props: { text: string; spans?: readonly Span[]; mark: "del" | "ins" }) {
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

/** Where lines are from: in one line, however long the heading is that they stand below. */
export function HunkText({ text }: { text: string }) {
  return (
    <span className="block truncate" title={text}>
      <VisibleText text={text} />
    </span>
  );
}

export const numberCell =
  "w-8 px-1 text-right align-top text-[11px] text-quiet select-none md:w-12 md:px-2 md:text-[12px]";
export const textCell = "relative py-0 pr-3 pl-6 align-top whitespace-pre-wrap wrap-anywhere";
const signs = { "+": "before:content-['+']", "−": "before:content-['−']", " ": "" } as const;

export function signed(sign: keyof typeof signs): string {
  return `${textCell} before:absolute before:left-2 ${signs[sign]}`;
}
