import markdownIt from "markdown-it";
import { hideMarks } from "../hide-marks.ts";
import { type Html, trustedHtml, visibleText } from "./html.ts";

const bodyCharactersMax = 65_536;

const renderer = createRenderer();

/** A pull request's body. No HTML, no images (they would tell a stranger who reads), links that name no referrer. */
export function renderMarkdown(text: string): Html {
  // The marks are for programs; where HTML is off they would show.
  return trustedHtml(renderer.render(visibleText(hideMarks(text.slice(0, bodyCharactersMax)))));
}

function createRenderer() {
  const md = markdownIt({ html: false, linkify: false, typographer: false });
  md.disable("image");
  md.renderer.rules.link_open = (tokens, index, options, _env, self) => {
    tokens[index]?.attrSet("rel", "nofollow noreferrer");
    return self.renderToken(tokens, index, options);
  };
  return md;
}
