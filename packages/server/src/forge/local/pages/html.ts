import { unseenCharacters, unseenName } from "@emend/contract";

/** Markup that is safe to send. Made by `html` alone, which escapes everything else. */
export interface Html {
  readonly markup: string;
}

export type HtmlValue = Html | string | number | null | false | readonly HtmlValue[];

export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = strings[0] ?? "";
  values.forEach((value, index) => {
    markup += render(value) + (strings[index + 1] ?? "");
  });
  return { markup };
}

/** For markup that another escaper made, such as the Markdown renderer. */
export function trustedHtml(markup: string): Html {
  return { markup };
}

/** Words of a repository, a person or an agent: what would be unseen is shown by its code. */
export function visible(text: string): Html {
  const shown = escapeHtml(text).replace(
    unseenCharacters,
    (character) => `<span class="unseen" title="a character that is not seen">${unseenName(character)}</span>`,
  );
  return { markup: shown };
}

/** The same where no markup can stand. */
export function visibleText(text: string): string {
  return text.replace(unseenCharacters, (character) => `⟦${unseenName(character)}⟧`);
}

function render(value: HtmlValue): string {
  if (value === null || value === false) return "";
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  if (Array.isArray(value)) return value.map(render).join("");
  return (value as Html).markup;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
