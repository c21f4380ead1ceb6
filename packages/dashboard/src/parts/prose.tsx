import { VisibleText } from "./text.tsx";

type Block =
  | { kind: "heading"; text: string }
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "list"; isOrdered: boolean; items: readonly string[] };

/** A summary's Markdown: headings, lists, code, bold and emphasis. Nothing links or loads. */
export function Prose({ text }: { text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of one text never move
  return readBlocks(text).map((block, index) => <BlockView key={index} block={block} />);
}

const item = /^\s{0,6}(?:[-*+]|(\d{1,4})[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/;

export function readBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.replaceAll("\r\n", "\n").trim().split("\n");
  let isAfterBlank = true;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const last = blocks.at(-1);
    const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    const listed = item.exec(line);
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (fence !== undefined) {
      const end = lines.findIndex((one, index) => index > at && one.trim().startsWith(fence));
      blocks.push({ kind: "code", text: lines.slice(at + 1, end === -1 ? undefined : end).join("\n") });
      at = end === -1 ? lines.length : end;
    } else if (heading !== undefined) blocks.push({ kind: "heading", text: heading });
    else if (listed) {
      const said = `${listed[2] === undefined ? "" : listed[2] === " " ? "☐ " : "☑ "}${listed[3]}`;
      const isOrdered = listed[1] !== undefined;
      if (last?.kind === "list" && last.isOrdered === isOrdered) {
        blocks[blocks.length - 1] = { ...last, items: [...last.items, said] };
      } else blocks.push({ kind: "list", isOrdered, items: [said] });
    } else if (line.trim() !== "" && !isAfterBlank && last?.kind === "list") {
      const items = [...last.items.slice(0, -1), `${last.items.at(-1)} ${line.trim()}`];
      blocks[blocks.length - 1] = { ...last, items };
    } else if (line.trim() !== "" && !isAfterBlank && last?.kind === "text") {
      blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${line}` };
    } else if (line.trim() !== "") blocks.push({ kind: "text", text: line });
    isAfterBlank = line.trim() === "";
  }
  return blocks;
}

function BlockView({ block }: { block: Block }) {
  if (block.kind === "heading") {
    return (
      <h3 className="pt-1 font-semibold">
        <ProseLine text={block.text} />
      </h3>
    );
  }
  if (block.kind === "code") {
    return (
      <pre className="overflow-x-auto rounded-md bg-hush px-2 py-1">
        <VisibleText text={block.text} />
      </pre>
    );
  }
  if (block.kind === "text") {
    return (
      <p>
        <ProseLine text={block.text} />
      </p>
    );
  }
  const items = block.items.map((text, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text never move
    <li key={index}>
      <ProseLine text={text} />
    </li>
  ));
  return block.isOrdered ? (
    <ol className="grid list-decimal gap-1 pl-5 marker:text-quiet">{items}</ol>
  ) : (
    <ul className="grid list-disc gap-1 pl-4 marker:text-quiet">{items}</ul>
  );
}

const inline = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__|(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])/g;

/** A single line. */
export function ProseLine({ text }: { text: string }) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(inline)) {
    const [whole, code, bold, strong, emphasis] = found;
    parts.push(<VisibleText key={from} text={text.slice(from, found.index)} />);
    const key = `${found.index}-${whole.length}`;
    if (code !== undefined) {
      parts.push(
        <code key={key} className="rounded-md bg-hush px-1">
          <VisibleText text={code} />
        </code>,
      );
    } else if (emphasis !== undefined) {
      parts.push(
        <em key={key}>
          <VisibleText text={emphasis} />
        </em>,
      );
    } else {
      parts.push(
        <strong key={key}>
          <VisibleText text={bold ?? strong ?? ""} />
        </strong>,
      );
    }
    from = found.index + whole.length;
  }
  parts.push(<VisibleText key={from} text={text.slice(from)} />);
  return parts;
}
