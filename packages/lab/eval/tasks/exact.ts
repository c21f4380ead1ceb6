// Tasks with one right tree: what must change is known to the letter.
import { relay } from "../relay.ts";
import { everywhere, listed, moved, named, type SiteModel, withBody, withPage } from "../site-model.ts";
import type { Definition } from "./define.ts";

/** Prose alone: what stands in fences and code marks is as it was. */
function inProse(body: string, change: (prose: string) => string): string {
  return body
    .split(/(^```[\s\S]*?^```$|`[^`\n]*`)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join("");
}

const keyed = (prose: string) =>
  prose
    .replaceAll("An API token", "An access key")
    .replaceAll("API token", "access key")
    .replaceAll("an access key", "an access key");
export const accessKeys: SiteModel = everywhere(relay, (body) => inProse(body, keyed));

const listening = relay.pages["reference/options"]?.body.split("## Logging")[0] ?? "";
const splitOptions: SiteModel = listed(
  withPage(
    withBody(relay, "reference/options", (body) => body.replace(listening, "")),
    "reference/listening",
    { title: "Listening", body: listening.replace("## Listening\n\n", "") },
  ),
  "reference/listening",
  "Reference",
  "reference/options",
);

const misspelt: SiteModel = withPage(relay, "reference/errors", {
  body: (relay.pages["reference/errors"]?.body ?? "").replace("(page:guides/retries)", "(page:guide/retries)"),
});
const wrongAnchor: SiteModel = withBody(relay, "guides/retries", (body) => body.replace("#rotate", "#rotat"));
const withoutUnknown = (body: string) => body.replace(/\n## Unknown channel[\s\S]*$/, "");

export const exactTasks: readonly Definition[] = [
  {
    kind: "rename",
    name: "a term in prose, not in code",
    prompt: 'Replace "API token" with "access key".',
    rulesMustPass: true,
    right: [accessKeys],
    tells: [/access key/i],
    words: [
      ["Replace API token with access key", "Every page now says access key; the samples in code stay as they are."],
      ["Say access key", "I replaced the term API token by access key in the prose of four pages."],
    ],
  },
  {
    kind: "rename",
    name: "a heading with links to it",
    prompt: (framework) => `Rename the heading "Rotate" in ${named(framework, "guides/tokens")} to "Rotate a token".`,
    rulesMustPass: true,
    right: [
      everywhere(
        withBody(relay, "guides/tokens", (body) => body.replace("## Rotate\n", "## Rotate a token\n")),
        (body) => body.replaceAll("guides/tokens#rotate)", "guides/tokens#rotate-a-token)"),
      ),
    ],
    tells: [/rotate/i],
    words: [
      [
        "Rename the heading Rotate",
        "The heading is now Rotate a token, and the link to it on the retries page follows.",
      ],
      ["Call the section Rotate a token", "The section in the tokens guide has its new name; one link was updated."],
    ],
  },
  {
    kind: "rename",
    name: "a page's title",
    prompt: (framework) => `Set title of ${named(framework, "guides/retries")} to "Delivery and retries"`,
    rulesMustPass: true,
    right: [withPage(relay, "guides/retries", { title: "Delivery and retries" })],
    tells: [/title|retries/i],
    words: [
      ["Retitle the retries guide", "The title of the page is now Delivery and retries."],
      ["Set the title of guides/retries", "It says Delivery and retries, as you asked for."],
    ],
  },
  {
    kind: "restructure",
    name: "a page into a new folder",
    prompt: (framework) => `Move ${named(framework, "guides/tokens")} to ${named(framework, "security/tokens")}.`,
    rulesMustPass: true,
    right: [moved(relay, "guides/tokens", "security/tokens")],
    tells: [/security\/tokens/],
    words: [
      [
        "Move guides/tokens to security/tokens",
        "The page moved with its links, its entry in the navigation and a redirect.",
      ],
      [
        "Move the tokens guide",
        "It is at security/tokens now; the old address redirects to it and all the links follow.",
      ],
    ],
  },
  {
    kind: "restructure",
    name: "a new page in its group",
    prompt: (framework) =>
      `Add a page ${named(framework, "guides/webhooks")} titled "Webhooks" with the text "Webhooks tell your server what happened." and list it in the navigation under "Guides".`,
    rulesMustPass: true,
    right: [
      listed(
        withPage(relay, "guides/webhooks", { title: "Webhooks", body: "Webhooks tell your server what happened.\n" }),
        "guides/webhooks",
        "Guides",
      ),
    ],
    tells: [/webhooks/i],
    words: [
      ["Add a page on webhooks", "The page guides/webhooks is new, and it is listed under Guides."],
      ["Add guides/webhooks", "I added the page with the text that you gave and listed it in the navigation."],
    ],
  },
  {
    kind: "restructure",
    name: "a section becomes a page",
    prompt: (framework) =>
      `Move the section "Listening" of ${named(framework, "reference/options")} to a new page ${named(framework, "reference/listening")} titled "Listening", word for word, and list it after Options. The section goes from the old page.`,
    right: [splitOptions],
    tells: [/listening/i],
    words: [
      [
        "Give Listening a page of its own",
        "The section of the options page is now reference/listening, listed after Options.",
      ],
      ["Split the options page", "I moved the section Listening to a new page, word for word, and listed it."],
    ],
  },
  {
    kind: "restructure",
    name: "a section is removed",
    prompt: (framework) =>
      `Remove the section "Unknown channel" from ${named(framework, "reference/errors")}: that error is gone. Change nothing else.`,
    right: [withBody(relay, "reference/errors", withoutUnknown)],
    tells: [/unknown channel/i],
    words: [
      ["Remove the error Unknown channel", "The section is gone from the errors page, and nothing linked to it."],
      ["Drop Unknown channel", "I removed the section Unknown channel from the page on errors."],
    ],
  },
  {
    kind: "fix links",
    name: "a folder that was misspelt",
    site: misspelt,
    prompt: "Fix broken links.",
    rulesMustPass: true,
    right: [relay],
    tells: [/link/i],
    words: [
      ["Fix a broken link", "The link to the page on retries led nowhere, and now leads to guides/retries."],
      ["Repair the link on the errors page", "It pointed to guide/retries; the page is at guides/retries."],
    ],
  },
  {
    kind: "fix links",
    name: "an anchor that was misspelt",
    site: wrongAnchor,
    prompt: "Fix broken links.",
    rulesMustPass: true,
    right: [relay],
    tells: [/link|anchor/i],
    words: [
      ["Fix a broken anchor", "The link from retries to the section Rotate has the right anchor now."],
      ["Repair the link to Rotate", "The anchor was misspelt on the retries page."],
    ],
  },
  {
    kind: "fix links",
    name: "an old address",
    prompt: (framework) =>
      `Add a redirect from ${framework === "docusaurus" ? "/docs/" : "/"}get-started to ${named(framework, "guides/quickstart")}.`,
    rulesMustPass: true,
    right: [{ ...relay, redirects: [...relay.redirects, ["get-started", "guides/quickstart"]] }],
    tells: [/get-started/],
    words: [
      ["Redirect get-started to the quickstart", "The old address get-started now leads to the quickstart."],
      ["Add a redirect", "I added a redirect from get-started to guides/quickstart."],
    ],
  },
  {
    kind: "update an option",
    name: "a flag in prose and in code",
    prompt: 'Replace "--port" with "--listen", also in code.',
    rulesMustPass: true,
    right: [everywhere(relay, (body) => body.replaceAll("--port", "--listen"))],
    tells: [/--listen/],
    words: [
      ["Rename --port to --listen", "The flag has its new name in the prose and in every sample."],
      ["Use --listen", "All mentions of the old flag now say --listen, in code too."],
    ],
  },
  {
    kind: "update an option",
    name: "another default",
    prompt:
      "The default port is now 9090. Update the docs: the options page says what it is unless you set it, and the samples that start Relay on the default port show it.",
    right: [everywhere(relay, (body) => body.replaceAll("8080", "9090"))],
    tells: [/9090/],
    words: [
      ["Update the default port to 9090", "The options page and both of the samples show 9090 as the port."],
      ["Say that the port is 9090", "I updated the default in the reference and the samples to 9090."],
    ],
  },
  {
    kind: "navigation",
    name: "groups in German",
    prompt:
      'Translate the names of the navigation groups into German: "Anleitungen" for Guides, "Referenz" for Reference. Change no page.',
    right: [
      {
        ...relay,
        navigation: relay.navigation.map(({ group, pages }) => ({
          group: group === "Guides" ? "Anleitungen" : "Referenz",
          pages,
        })),
      },
    ],
    tells: [/Anleitungen|German|navigation/i],
    words: [
      ["Translate the navigation into German", "The groups are called Anleitungen and Referenz; no page was changed."],
      ["Name the groups in German", "Guides is now Anleitungen and Reference is Referenz in the navigation."],
    ],
  },
  {
    kind: "navigation",
    name: "another order",
    prompt: (framework) =>
      `In the navigation, list ${named(framework, "guides/retries")} directly after ${named(framework, "guides/quickstart")}. Change nothing else.`,
    right: [
      {
        ...relay,
        navigation: relay.navigation.map(({ group, pages }) =>
          group === "Guides"
            ? { group, pages: ["index", "guides/quickstart", "guides/retries", "guides/tokens"] }
            : { group, pages },
        ),
      },
    ],
    tells: [/retries/i],
    words: [
      ["List retries after the quickstart", "The order of the group Guides is changed, and nothing else."],
      ["Move retries up in the navigation", "The page on retries is listed right after the quickstart now."],
    ],
  },
  {
    kind: "navigation",
    name: "a page's own entry",
    prompt: (framework) =>
      `The navigation shows the page ${named(framework, "guides/tokens")} by its title. Make it show "Schlüssel" there; the page's text and its address stay.`,
    right: [
      withPage(relay, "guides/tokens", { title: "Schlüssel" }),
      withPage(relay, "guides/tokens", { meta: { sidebarTitle: "Schlüssel" } }),
      withPage(relay, "guides/tokens", { meta: { sidebar_label: "Schlüssel" } }),
    ],
    tells: [/Schlüssel/],
    words: [
      ["Show the tokens page as Schlüssel", "The navigation shows Schlüssel for the page, and its text is as it was."],
      ["Call the tokens page Schlüssel", "Only the name in the navigation is new: Schlüssel."],
    ],
  },
  {
    kind: "update an option",
    name: "a description in the front matter",
    prompt: (framework) => `Set description of ${named(framework, "reference/options")} to "Every flag of Relay."`,
    rulesMustPass: true,
    right: [withPage(relay, "reference/options", { meta: { description: "Every flag of Relay." } })],
    tells: [/description|options/i],
    words: [
      ["Describe the options page", "The page has the description that you gave in its front matter."],
      ["Set the description of reference/options", "It says what you asked for: every flag of Relay."],
    ],
  },
];
