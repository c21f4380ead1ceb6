import { unseenCharacters, unseenName } from "@emend/contract";

/** In a group, so that splitting keeps them. */
const unseen = new RegExp(`(${unseenCharacters.source})`, unseenCharacters.flags);

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
        {unseenName(part)}
      </span>
    ),
  );
}
