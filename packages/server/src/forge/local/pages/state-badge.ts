import type { LocalPullRequest } from "../pull-requests.ts";
import { type Html, html } from "./html.ts";
import { type IconName, icon } from "./icons.ts";

/** Colour, icon and word say the same thing. */
export function badge(pullRequest: Pick<LocalPullRequest, "state" | "draft">): Html {
  const state: IconName & string = pullRequest.state === "open" && pullRequest.draft ? "draft" : pullRequest.state;
  const word = state.charAt(0).toUpperCase() + state.slice(1);
  return html`<span class="badge ${state}">${icon(state)}${word}</span>`;
}

/** In the one time zone that needs no asking. */
export function moment(date: Date): Html {
  const words = new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: "UTC",
  }).format(date);
  return html`<time datetime="${date.toISOString()}">${words} UTC</time>`;
}
