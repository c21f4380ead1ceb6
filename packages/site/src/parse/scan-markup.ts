import type { Dialect } from "./dialect.ts";
import type { InlineSink } from "./scan-inline.ts";
import { scanTag } from "./scan-tag.ts";

const rawElements = new Set(["script", "style", "pre", "textarea"]);

/** Scans an HTML block: tags count, Markdown does not, comments and the text of scripts are nothing. */
export function scanMarkup(text: string, from: number, end: number, dialect: Dialect, sink: InlineSink): void {
  let proseStart = from;
  const cut = (start: number, after: number): void => {
    if (sink.prose !== undefined && start > proseStart) sink.prose(proseStart, start);
    proseStart = after;
  };
  let at = text.indexOf("<", from);
  while (at !== -1 && at < end) {
    let after = at + 1;
    if (text.startsWith("<!--", at)) {
      const close = text.indexOf("-->", at + 4);
      after = close === -1 || close > end ? end : close + 3;
      sink.template(at, after);
      cut(at, after);
    } else {
      const tag = scanTag(text, at, end, dialect.syntax === "mdx");
      if (tag !== null) {
        after = tag.end;
        if (!tag.closing && rawElements.has(tag.name.toLowerCase()) && tag.name !== "pre") {
          const close = new RegExp(`</${tag.name}`, "gi");
          close.lastIndex = after;
          after = Math.min(close.exec(text)?.index ?? end, end);
        }
        cut(at, after);
        sink.tag(tag);
      }
    }
    at = text.indexOf("<", after);
  }
  cut(end, end);
}
