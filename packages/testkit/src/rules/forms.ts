import type { smallSite } from "./small-site.ts";

/** The docs afterwards: files by path, and the parsed docs.json. */
export interface After {
  text(path: string): string | null;
  config: {
    navigation: { groups: { group: string; pages: string[] }[] };
    redirects?: { source: string; destination: string }[];
  };
  /** Changed paths. */
  changed: readonly string[];
}

export interface KnownForm {
  name: string;
  phrasings: readonly string[];
  /** True if the docs are as that form requires. */
  holds(after: After): boolean;
}

const has = (after: After, path: keyof typeof smallSite | string, text: string) =>
  after.text(path)?.includes(text) ?? false;
const pagesOf = (after: After, group: string) =>
  after.config.navigation.groups.find((one) => one.group === group)?.pages.join(" ") ?? null;
const redirects = (after: After, source: string, destination: string) =>
  after.config.redirects?.some((one) => one.source === source && one.destination === destination) ?? false;
const only = (after: After, ...paths: string[]) => after.changed.join(" ") === paths.join(" ");

/** Every form of an instruction, each in several people's phrasings. */
export const knownForms: readonly KnownForm[] = [
  {
    name: "replace a term",
    phrasings: [
      'replace "API token" with "access key"',
      "Please replace every occurrence of ‘API token’ by ‘access key’.",
      "change all occurrences of `API token` to `access key` everywhere",
      "use “access key” instead of “API token” throughout the docs",
      "Replace API token with access key across the documentation, thanks!",
      'say "access key" instead of "API token"',
      'Let\'s update the term "API token" to "access key" on all pages',
      'Make sure every page says "access key" instead of "API token".',
    ],
    holds: (after) =>
      has(after, "guides/auth.mdx", 'An access key opens doors. Some access keys expire.\n\n```sh\necho "API token"') &&
      only(after, "guides/auth.mdx", "guides/send.mdx", "quickstart.mdx"),
  },
  {
    name: "replace a term in code too",
    phrasings: [
      'replace "API token" with "access key", also in code',
      'replace "API token" by "access key" including code blocks',
      "change «API token» to «access key» everywhere and even in code samples",
      'use "access key" instead of "API token", in the code too',
      'rename the term "API token" to "access key" everywhere, also in the code',
    ],
    holds: (after) => has(after, "guides/auth.mdx", 'echo "access key"'),
  },
  {
    name: "replace a term below a folder",
    phrasings: [
      'replace "API token" with "access key" in guides/',
      'replace "API token" with "access key" only in the folder guides',
      'change "API token" to "access key" in all pages, only under guides/',
      'In guides/, replace "API token" with "access key".',
      'use "access key" instead of "API token" within the directory guides',
      'replace the term "API token" with "access key" on the pages in guides/',
    ],
    holds: (after) => only(after, "guides/auth.mdx", "guides/send.mdx"),
  },
  {
    name: "replace a term on one page",
    phrasings: [
      'replace "API token" with "access key" in guides/send',
      'replace "API token" with "access key" on the page guides/send.mdx',
      'change "API token" to "access key" in the file /guides/send.mdx',
      'On the page guides/send, replace "API token" with "access key"',
      'replace "API token" with "access key" on the page "Send"',
    ],
    holds: (after) => only(after, "guides/send.mdx"),
  },
  {
    name: "rename a term",
    phrasings: [
      'rename the term "API token" to "access key"',
      'rename "API token" to "access key"',
      "Rename API token to access key.",
      'rename all uses of the phrase "API token" to "access key"',
      'please rename the word "API token" into "access key" everywhere',
    ],
    holds: (after) => has(after, "guides/send.mdx", "Use the access key"),
  },
  {
    name: "move a page",
    phrasings: [
      "move guides/auth to security/keys",
      "Move the page /guides/auth.mdx to /security/keys.mdx, with a redirect from the old address.",
      'relocate the page "Authentication" to security/keys',
      "rename guides/auth to security/keys",
      "I want you to move guides/auth.mdx to security/keys",
      "change the path of guides/auth to security/keys",
      "transfer `guides/auth` to `security/keys`",
      "mv guides/auth.mdx security/keys.mdx",
      "guides/auth.mdx → security/keys.mdx",
      'Move the "Authentication" page to security/keys and update everything that links to it.',
      "Move the Authentication page over to security/keys, keeping redirects from the old URL.",
      "Authentication should be moved to security/keys",
      "Would you mind moving Authentication to security/keys?",
      "change the url of auth to /security/keys and keep the old link working",
    ],
    holds: (after) =>
      has(after, "index.mdx", "(/security/keys#create-a-token)") &&
      after.text("guides/auth.mdx") === null &&
      redirects(after, "/guides/auth", "/security/keys"),
  },
  {
    name: "rename a page",
    phrasings: [
      "rename the page guides/auth to guides/keys",
      "rename guides/auth to guides/keys",
      "rename the file guides/auth.mdx to guides/keys.mdx",
      'rename the page "Authentication" to guides/keys',
      "please rename the page /guides/auth as guides/keys with a redirect",
    ],
    holds: (after) => pagesOf(after, "Guides") === "guides/keys guides/send guides/hooks",
  },
  {
    name: "move a page into a folder",
    phrasings: [
      "move guides/auth into security",
      "move guides/auth to security/",
      "move the page guides/auth to the folder security",
      "put guides/auth into the folder security",
      "move guides/auth under security",
      "relocate guides/auth inside the directory security",
      'move the page "Authentication" into security',
      "Move the Authentication page into the folder security.",
      "Authentication belongs in the security folder",
    ],
    holds: (after) => after.text("security/auth.mdx") !== null,
  },
  {
    name: "move a folder",
    phrasings: [
      "move the folder guides to handbook",
      "rename the folder guides to handbook",
      "move guides/ to handbook/",
      "Move all pages in guides to handbook.",
      "rename the directory guides/ as handbook",
      "relocate the whole folder guides to the folder handbook",
      "Move everything under guides/ into handbook/.",
    ],
    holds: (after) =>
      after.text("handbook/hooks.mdx") !== null && has(after, "index.mdx", "(/handbook/auth#create-a-token)"),
  },
  {
    name: "delete a page in favour of another",
    phrasings: [
      "delete guides/hooks and redirect it to guides/send",
      "remove the page guides/hooks in favour of guides/send",
      "Delete guides/hooks. Redirect guides/hooks to guides/send.",
      "drop the page guides/hooks, with a redirect to guides/send",
      'delete the page "Hooks" and send readers to the page "Send"',
      "redirect guides/hooks to guides/send, then delete guides/hooks",
      "remove guides/hooks.mdx and add a redirect to guides/send",
      "Get rid of the Hooks page; send visitors to the page guides/send instead.",
      "Remove guides/hooks along with its navigation entry, and redirect it to guides/send.",
      "We don't need the Hooks page any more, get rid of it. Anyone who lands there should go to Send.",
      "Hooks can be deleted, redirect it to Send",
    ],
    holds: (after) =>
      after.text("guides/hooks.mdx") === null &&
      pagesOf(after, "Guides") === "guides/auth guides/send" &&
      redirects(after, "/guides/hooks", "/guides/send"),
  },
  {
    name: "fix broken links",
    phrasings: [
      "fix broken links",
      "Repair all the dead links, please.",
      "fix all links that are broken",
      "correct any broken links and anchors across the docs",
      "fix every broken link on all pages",
      "Just fix the broken internal links.",
      "Please fix any dead links you can find in the docs.",
      "Check the docs for broken links and repair them.",
    ],
    holds: (after) => has(after, "index.mdx", "[lost](/guides/send)") && has(after, "guides/send.mdx", "(./hooks)"),
  },
  {
    name: "fix broken links in one place",
    phrasings: [
      "fix broken links in guides/",
      "fix the broken links on the page guides/send",
      "In guides/send, fix all broken links.",
      "repair dead links below guides/",
      "fix all the links that are broken in the folder guides",
      "Check guides/send for broken links and fix them.",
    ],
    holds: (after) => only(after, "guides/send.mdx"),
  },
  {
    name: "add a page",
    phrasings: [
      'add a page guides/new titled "New" with the text "Hello."',
      'create a new page guides/new with the title "New" and the text "Hello."',
      'add the page guides/new called "New" saying "Hello."',
      'make a new page at guides/new titled "New" containing the following text: "Hello."',
      'Add a page guides/new titled "New" with this text:\n\n```md\nHello.\n```\n',
      "create a page named `guides/new` entitled “New”, with the content “Hello.”",
    ],
    holds: (after) => after.text("guides/new.mdx") === "---\ntitle: New\n---\n\nHello.\n",
  },
  {
    name: "add a page with a description",
    phrasings: [
      'add a page guides/new titled "New" with the description "What is new"',
      'create a page guides/new with the title "New" and the description "What is new"',
      'add a new page guides/new titled "New" and description "What is new"',
      'add a page called guides/new with the description "What is new" and the title "New"',
      'make a page guides/new titled "New", with a description "What is new"',
    ],
    holds: (after) => has(after, "guides/new.mdx", "description: What is new"),
  },
  {
    name: "add a page and list it",
    phrasings: [
      'add a page guides/new titled "New" and list it in the navigation under "Start"',
      'add a page guides/new titled "New", listed under "Start"',
      'create a page guides/new titled "New". Then list it under "Start" in the sidebar.',
      '1. add a page guides/new titled "New"\n2. add guides/new to the navigation under "Start"',
      'add a page guides/new titled "New" to the navigation under Start',
    ],
    holds: (after) => pagesOf(after, "Start") === "index quickstart guides/new",
  },
  {
    name: "list a page",
    phrasings: [
      'add guides/extra to the navigation under "Guides"',
      "list guides/extra in the sidebar under Guides",
      "include the page guides/extra in the nav in the section Guides",
      'list the page "Extra" under the group Guides',
      "add guides/extra.mdx to the navigation group Guides",
      "show guides/extra in the menu under Guides",
      "Extra isn't in the sidebar. Add it under Guides.",
      "add Extra to Guides",
    ],
    holds: (after) => pagesOf(after, "Guides") === "guides/auth guides/send guides/hooks guides/extra",
  },
  {
    name: "list a page beside another",
    phrasings: [
      "put guides/extra after guides/auth in the navigation",
      "add guides/extra to the navigation after guides/auth",
      "list guides/extra before guides/send in the navigation",
      "place the page guides/extra right after guides/auth in the sidebar",
      'put the page "Extra" before the page "Send" in the nav',
    ],
    holds: (after) => pagesOf(after, "Guides") === "guides/auth guides/extra guides/send guides/hooks",
  },
  {
    name: "move an entry within its group",
    phrasings: [
      "put guides/hooks before guides/auth in the navigation",
      "move guides/hooks above guides/auth in the sidebar",
      "place guides/hooks before guides/auth in the menu",
      "In the navigation, move guides/hooks before guides/auth.",
      "move the entry of guides/hooks before guides/auth in the navigation",
      "In the sidebar, list guides/hooks before guides/auth.",
      "Move guides/hooks to the top of the Guides section in the sidebar.",
      'put guides/hooks first in the navigation group "Guides"',
    ],
    holds: (after) => pagesOf(after, "Guides") === "guides/hooks guides/auth guides/send",
  },
  {
    name: "move an entry to another group",
    phrasings: [
      "move guides/hooks to the group Start in the navigation",
      'put guides/hooks into the navigation group "Start"',
      'move guides/hooks under "Start" in the sidebar',
      "place the page guides/hooks in the section Start of the navigation",
      "move the entry for guides/hooks to the navigation group Start",
    ],
    holds: (after) =>
      pagesOf(after, "Guides") === "guides/auth guides/send" &&
      pagesOf(after, "Start") === "index quickstart guides/hooks",
  },
  {
    name: "take a page out of the navigation",
    phrasings: [
      "remove guides/hooks from the navigation",
      "take the page guides/hooks out of the sidebar",
      "unlist guides/hooks",
      'drop the page "Hooks" from the menu',
      "delete the navigation entry of guides/hooks",
      "remove the entry for guides/hooks from the navigation",
      "hide Hooks",
      "Take Hooks out of the menu but keep the page",
    ],
    holds: (after) => pagesOf(after, "Guides") === "guides/auth guides/send" && only(after, "docs.json"),
  },
  {
    name: "order a group",
    phrasings: [
      'order the navigation group "Guides" as guides/send, guides/hooks, guides/auth',
      "reorder the navigation as guides/send, guides/hooks and guides/auth",
      "arrange the section Guides like this: guides/send, guides/hooks, guides/auth",
      "sort the pages of the group Guides in this order: guides/send, guides/hooks, guides/auth",
      "put the pages of Guides in the following order: guides/send, guides/hooks, then guides/auth",
      'order the navigation group Guides as "Send", "Hooks", "Authentication"',
    ],
    holds: (after) => pagesOf(after, "Guides") === "guides/send guides/hooks guides/auth",
  },
  {
    name: "rename a group",
    phrasings: [
      'rename the navigation group "Guides" to "How-to guides"',
      "rename the group “Guides” to “How-to guides”",
      'change the name of the group "Guides" to "How-to guides"',
      'rename the section "Guides" in the navigation to "How-to guides"',
      'change the sidebar section "Guides" to "How-to guides"',
    ],
    holds: (after) => pagesOf(after, "How-to guides") === "guides/auth guides/send guides/hooks",
  },
  {
    name: "set front matter to a text",
    phrasings: [
      'set description of guides/auth to "How to sign."',
      'set the description of the page guides/auth to "How to sign."',
      'change the front matter field description of guides/auth.mdx to "How to sign."',
      'give guides/auth the description "How to sign."',
      'add the description "How to sign." to guides/auth',
      'update the description of "Authentication" to “How to sign.”',
      'Update the page description of guides/auth: "How to sign."',
      'Give the Authentication page the description "How to sign."',
      "Add `description: How to sign.` to the front matter of guides/auth.",
    ],
    holds: (after) => has(after, "guides/auth.mdx", "title: Authentication\ndescription: How to sign.\n---"),
  },
  {
    name: "set front matter to a number or a truth",
    phrasings: [
      "set hidden to true on guides/auth",
      "set the front matter field hidden of guides/auth to TRUE",
      "set hidden of the page guides/auth to true",
      "add the field hidden with the value true to guides/auth",
      "update the frontmatter field hidden of guides/auth to true",
      "Add `hidden: true` to the front matter of guides/auth.",
    ],
    holds: (after) => has(after, "guides/auth.mdx", "\nhidden: true\n"),
  },
  {
    name: "remove front matter",
    phrasings: [
      "remove hidden from quickstart",
      "remove the front matter field hidden from quickstart",
      "delete the field hidden of the page quickstart.mdx",
      'drop hidden from the front matter of "Quick start"',
      "unset the frontmatter field hidden in quickstart",
      "clear the field hidden on quickstart",
      'Remove the "hidden" field from the front matter of quickstart.',
    ],
    holds: (after) => has(after, "quickstart.mdx", "---\ntitle: Quick start\n---\n"),
  },
  {
    name: "rename a heading",
    phrasings: [
      'rename the heading "Setup" in quickstart to "Install"',
      'change the heading "Setup" on the page quickstart to "Install"',
      'rename the heading Setup to Install in the page "Quick start"',
      "In quickstart, rename the heading “Setup” to “Install”.",
      'retitle the section heading "Setup" of quickstart.mdx to "Install"',
      'On the quickstart page, change the "Setup" heading to "Install".',
      'Retitle section "Setup" of quickstart.mdx as "Install" and update the links',
      'Rename the "Setup" section in quickstart to "Install".',
      'rename the heading "Setup" to "Install"',
      "In Quick start, the Setup section should be called Install.",
      "Change the heading ## Setup to ## Install in the quick start",
    ],
    holds: (after) => has(after, "quickstart.mdx", "## Install\n") && has(after, "quickstart.mdx", "(#install)"),
  },
  {
    name: "move a section",
    phrasings: [
      'move the section "Setup" of quickstart to guides/send',
      "Move the Setup section from Quick start to the end of Send.",
      "The Setup section belongs in Send",
      "move ## Setup from quickstart to guides/send",
      "please move the heading Setup on the quick start page to guides/send",
    ],
    holds: (after) => has(after, "guides/send.mdx", "## Setup") && !has(after, "quickstart.mdx", "## Setup"),
  },
  {
    name: "split a section off",
    phrasings: [
      'split the section "Setup" of quickstart into its own page',
      "Make the Setup section of Quick start its own page.",
      "extract the Setup section from quickstart into a new page",
      "Turn the Setup section of the quick start into its own page",
      'pull "Setup" out of quickstart into its own page',
    ],
    holds: (after) => has(after, "setup.mdx", "API token") && !has(after, "quickstart.mdx", "## Setup"),
  },
  {
    name: "move several pages",
    phrasings: [
      "move guides/auth, guides/send and guides/hooks into security",
      "Move Authentication, Send and Hooks to security/",
      "Could you move the pages “Authentication”, “Send” and “Hooks” into a new folder called “security”?",
      "relocate guides/auth, guides/send and guides/hooks to the folder security",
      "put Authentication, Send and Hooks into security",
    ],
    holds: (after) => ["auth", "send", "hooks"].every((name) => after.text(`security/${name}.mdx`) !== null),
  },
  {
    name: "add a redirect",
    phrasings: [
      "add a redirect from /old to guides/auth",
      "redirect /old to /guides/auth",
      "create a redirect from old to guides/auth.mdx",
      "set up a redirect to guides/auth from /old",
      'make /old redirect to "Authentication"',
      "Make /old point at /guides/auth.",
    ],
    holds: (after) => redirects(after, "/old", "/guides/auth"),
  },
  {
    name: "several at once",
    phrasings: [
      'Move guides/auth to keys, replace "API token" with "access key" and then fix broken links.',
      '1. move guides/auth to keys\n2. replace "API token" with "access key"\n3. fix broken links',
      '- Move guides/auth to keys.\n- Replace "API token" with "access key".\n- Fix broken links.',
      'move guides/auth to keys; replace "API token" with "access key"; fix broken links',
      'First, move guides/auth to keys. After that, replace "API token" with "access key". Finally, fix broken links!',
      'Please do the following:\n\na) move guides/auth to keys\nb) replace "API token" with "access key"\nc) fix broken links',
    ],
    holds: (after) =>
      has(after, "keys.mdx", "An access key opens") &&
      has(after, "index.mdx", "[keys](/keys#create-a-token) and [lost](/guides/send)"),
  },
];
