import { VisibleText } from "./visible-text.tsx";

/** What an agent wrote: paragraphs, lists and code in backticks. Nothing else of Markdown, and never a link or an image. */
export function Prose({ text }: { text: string }) {
  const blocks = text.trim().split(/\n{2,}/);
  return blocks.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of one text never move
    <Block key={index} lines={block.split("\n")} />
  ));
}

function Block({ lines }: { lines: readonly string[] }) {
  if (!lines.every((line) => /^[-*] /.test(line))) {
    return (
      <p>
        <ProseLine text={lines.join("\n")} />
      </p>
    );
  }
  return (
    <ul className="grid list-disc gap-1 pl-4 marker:text-quiet">
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text never move
        <li key={index}>
          <ProseLine text={line.slice(2)} />
        </li>
      ))}
    </ul>
  );
}

/** One line of it. */
export function ProseLine({ text }: { text: string }) {
  return text.split(/`([^`\n]+)`/).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <code key={index} className="rounded-md bg-hush px-1">
        <VisibleText text={part} />
      </code>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <VisibleText key={index} text={part} />
    ),
  );
}
