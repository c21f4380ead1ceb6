import { html, type Token, Tokenizer, TokenizerMode } from "parse5";
import type { Notes } from "./page-reading.ts";
import { readTag } from "./read-attribute.ts";
import { parseModule, readModule } from "./read-script.ts";

/** HTML as a browser's tokenizer takes it apart, whatever stands around it. */
export function readMarkup(notes: Notes, text: string, offset = 0): void {
  const ignore = () => undefined;
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag({ tagName, attrs, selfClosing, location }) {
        const at = location?.startOffset ?? 0;
        const body = selfClosing ? "" : bodyOf(text.slice(location?.endOffset), tagName);
        if (tagName === "script") readScript(notes, { attrs, body }, offset + at);
        else readTag(notes, tagName, attrs, offset + at);
        if (tagName === "style") notes.value(body, offset + at);
        if (tagName in modes && !selfClosing) {
          tokenizer.state = modes[tagName] as typeof tokenizer.state;
          tokenizer.lastStartTagName = tagName;
        }
      },
      onDoctype({ location }) {
        const written = text.slice(location?.startOffset, location?.endOffset);
        if (written.includes("[")) notes.code(written, "a document type with entities", offset);
      },
      onEndTag: ignore,
      onComment: ignore,
      onEof: ignore,
      onCharacter: ignore,
      onNullCharacter: ignore,
      onWhitespaceCharacter: ignore,
    },
  );
  tokenizer.write(text, true);
}

/** Whose content is no markup. */
const modes: Readonly<Record<string, number>> = {
  [html.TAG_NAMES.SCRIPT]: TokenizerMode.SCRIPT_DATA,
  [html.TAG_NAMES.STYLE]: TokenizerMode.RAWTEXT,
  [html.TAG_NAMES.TEXTAREA]: TokenizerMode.RCDATA,
  [html.TAG_NAMES.TITLE]: TokenizerMode.RCDATA,
};

function bodyOf(rest: string, tag: string): string {
  if (!(tag in modes)) return "";
  const end = rest.toLowerCase().indexOf(`</${tag}`);
  return end === -1 ? rest : rest.slice(0, end);
}

/** A component's own script may import and declare, like a page in MDX. */
function readScript(
  notes: Notes,
  { attrs, body }: { attrs: readonly Token.Attribute[]; body: string },
  at: number,
): void {
  const program = attrs.some(({ name }) => name === "setup") ? parseModule(body) : null;
  if (program) readModule(notes, program, body, at);
  else notes.code(`<script>${body}`, "a script", at);
}
