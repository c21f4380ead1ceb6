import { findWithin } from "../text/bytes.ts";
import type { Dialect } from "./dialect.ts";
import type { InlineSink } from "./scan-inline.ts";
import { failuresMax, scanTag } from "./scan-tag.ts";

const rawElements = new Set(["script", "style", "pre", "textarea"]);

/** Scans an HTML block: only tags count. Markdown, comments and scripts are ignored. */
export function scanMarkup(text: string, from: number, end: number, dialect: Dialect, sink: InlineSink): void {
  let proseStart = from;
  const cut = (start: number, after: number): void => {
    if (sink.prose !== undefined && start > proseStart) sink.prose(proseStart, start);
    proseStart = after;
  };
  let failures = 0;
  let at = findWithin(text, "<", from, end);
  while (at !== -1) {
    let after = at + 1;
    if (text.startsWith("<!--", at)) {
      const close = findWithin(text, "-->", at + 4, end);
      after = close === -1 ? end : close + 3;
      sink.template(at, after);
      cut(at, after);
    } else {
      const tag = failures > failuresMax ? null : scanTag(text, at, end, dialect.syntax === "mdx");
      if (tag === null) failures++;
      else {
        after = tag.end;
        if (!tag.closing && rawElements.has(tag.name.toLowerCase()) && tag.name !== "pre") {
          const close = text.slice(after, end).search(new RegExp(`</${tag.name}`, "i"));
          after = close === -1 ? end : after + close;
        }
        cut(at, after);
        sink.tag(tag);
      }
    }
    at = findWithin(text, "<", after, end);
  }
  cut(end, end);
}
