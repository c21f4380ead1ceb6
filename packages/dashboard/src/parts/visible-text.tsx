/** Controls (but tab and newline), bidirectional and zero-width formatting, tags: what a reader would not see. */
const unseen = /((?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029])/gu;

/** Words of a repository, a person or an agent: what would be unseen, or reorder what is seen, is shown by its code. */
export function VisibleText({ text }: { text: string }) {
  const parts = text.split(unseen);
  if (parts.length === 1) return text;
  return parts.map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name
      <span key={index} className="rounded-md border border-warn px-1 text-[11px] text-warn" title="not seen otherwise">
        {codeOf(part)}
      </span>
    ),
  );
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
