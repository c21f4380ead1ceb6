/**
 * Sixty requests, written by somebody who had read neither the docs nor the code of the rules. Each says what must be true of
 * the site afterwards. A random half is frozen: see the test.
 */
export interface PlainRequest {
  prompt: string;
  /** Files that exist afterwards, and what they contain. */
  has?: Record<string, string | readonly string[]>;
  /** Files that do not exist afterwards, and texts that a file no longer contains. */
  gone?: readonly string[];
  lacks?: Record<string, string | readonly string[]>;
}

export const plainSite: Record<string, string> = {
  "mkdocs.yml": `site_name: Courier
nav:
  - Home: index.md
  - Install: install.md
  - Guides:
      - Quickstart: guides/quickstart.md
      - Webhooks: guides/webhooks.md
      - Billing: guides/billing.md
  - Reference:
      - CLI: reference/cli.md
      - Errors: reference/errors.md
  - FAQ: faq.md
plugins:
  - search
  - redirects:
      redirect_maps: {}
`,
  "docs/index.md": `# Courier

Start with [the installation](install.md), then read the [quickstart](guides/quickstart.md).

Events arrive by [webhooks](guides/webhooks.md#verify-signatures). See [retries](guides/webhooks.md#retries).
`,
  "docs/install.md": `# Install

Install the courier-cli with npm.

## Requirements

Node 18 or newer.

## Uninstall

Remove the package. See [the FAQ](faq.md).
`,
  "docs/guides/quickstart.md": `# Quickstart

First [install](../install.md#requirements) the program, then open the Control Panel.

## Send a message

Open the Control Panel and press Send. Problems? [Errors](../reference/errors.md).
`,
  "docs/guides/webhooks.md": `---
description: How events arrive.
---

# Webhooks

A webhook carries one event.

## Verify signatures

Compare the header with your secret.

## Retries

We try five times. See [billing](billing.md).
`,
  "docs/guides/billing.md": `# Billing

Invoices are in the Control Panel.

## Refunds

Write to support.
`,
  "docs/reference/cli.md": `# CLI

The courier-cli has two commands. See [errors](errors.md#e42).

## send

Sends a message.

## login

Stores a token.
`,
  "docs/reference/errors.md": `# Errors

## E42

The token has expired.

## E43

The Control Panel is closed.
`,
  "docs/faq.md": `# FAQ

## Is it free?

Yes. See [billing](guides/billing.md#refunds).

## Where are my invoices?

In the Control Panel.
`,
};

const moved = (to: string): Record<string, string> => ({ [to]: "#" });

export const plainRequests: readonly PlainRequest[] = [
  // Pages that move or change their name.
  {
    prompt: "Move the webhooks page to the reference section",
    gone: ["docs/guides/webhooks.md"],
    has: { "docs/reference/webhooks.md": "# Webhooks", "docs/index.md": "reference/webhooks.md#retries" },
  },
  {
    prompt: "please rename faq.md to questions.md",
    gone: ["docs/faq.md"],
    has: { "docs/questions.md": "# FAQ", "docs/install.md": "(questions.md)" },
  },
  {
    prompt: "can you put billing under reference instead of guides?",
    gone: ["docs/guides/billing.md"],
    has: moved("docs/reference/billing.md"),
  },
  { prompt: "The install page should live in guides", gone: ["docs/install.md"], has: moved("docs/guides/install.md") },
  {
    prompt: "change the url of the quickstart to /guides/getting-started",
    gone: ["docs/guides/quickstart.md"],
    has: moved("docs/guides/getting-started.md"),
  },
  {
    prompt: "rename guides/webhooks to guides/events and keep the old link working",
    gone: ["docs/guides/webhooks.md"],
    has: { "docs/guides/events.md": "# Webhooks", "mkdocs.yml": "guides/webhooks.md: guides/events.md" },
  },
  {
    prompt: "Move webhooks and billing to reference",
    gone: ["docs/guides/webhooks.md", "docs/guides/billing.md"],
    has: { "docs/reference/webhooks.md": "#", "docs/reference/billing.md": "#" },
  },
  {
    prompt: "move all pages in guides to tutorials",
    gone: ["docs/guides/webhooks.md", "docs/guides/billing.md", "docs/guides/quickstart.md"],
    has: { "docs/tutorials/webhooks.md": "#", "docs/tutorials/billing.md": "#", "docs/tutorials/quickstart.md": "#" },
  },
  {
    prompt: "Rename the folder guides to how-to",
    gone: ["docs/guides/webhooks.md", "docs/guides/billing.md", "docs/guides/quickstart.md"],
    has: { "docs/how-to/webhooks.md": "#", "docs/how-to/billing.md": "#", "docs/how-to/quickstart.md": "#" },
  },
  {
    prompt: "Move the errors page up one level",
    gone: ["docs/reference/errors.md"],
    has: { "docs/errors.md": "# Errors", "docs/reference/cli.md": "../errors.md#e42" },
  },
  { prompt: "faq.md -> help/faq.md", gone: ["docs/faq.md"], has: moved("docs/help/faq.md") },
  { prompt: "Put the FAQ into a folder called help", gone: ["docs/faq.md"], has: moved("docs/help/faq.md") },

  // Titles and headings.
  {
    prompt: 'Rename the heading "Retries" on the webhooks page to "Delivery retries"',
    has: { "docs/guides/webhooks.md": "## Delivery retries", "docs/index.md": "#delivery-retries" },
  },
  {
    prompt: "change ## Verify signatures to ## Check signatures",
    has: { "docs/guides/webhooks.md": "## Check signatures", "docs/index.md": "#check-signatures" },
  },
  {
    prompt: "the section Refunds in billing should be called Getting your money back",
    has: { "docs/guides/billing.md": "## Getting your money back", "docs/faq.md": "#getting-your-money-back" },
  },
  {
    prompt: "Change the title of the CLI page to Command line",
    has: { "docs/reference/cli.md": "# Command line" },
    lacks: { "docs/reference/cli.md": "# CLI\n" },
  },
  {
    prompt: "In the docs rename E42 to Error 42",
    has: { "docs/reference/errors.md": "## Error 42", "docs/reference/cli.md": "#error-42" },
  },
  { prompt: "call the FAQ page 'Frequently asked questions'", has: { "docs/faq.md": "# Frequently asked questions" } },

  // Words.
  {
    prompt: "Replace Control Panel with Dashboard everywhere",
    has: { "docs/guides/billing.md": "in the Dashboard", "docs/faq.md": "In the Dashboard" },
    lacks: { "docs/guides/quickstart.md": "Control Panel" },
  },
  {
    prompt: 'We no longer say "Control Panel", we say "Console". Update the docs.',
    has: { "docs/guides/billing.md": "in the Console" },
    lacks: { "docs/guides/quickstart.md": "Control Panel", "docs/faq.md": "Control Panel" },
  },
  {
    prompt: "s/courier-cli/courier/",
    has: { "docs/install.md": "Install the courier with npm", "docs/reference/cli.md": "The courier has" },
  },
  {
    prompt: "the product courier-cli is now called parcel",
    has: { "docs/install.md": "Install the parcel with npm", "docs/reference/cli.md": "The parcel has" },
  },
  {
    prompt: "change 'five times' to 'seven times' in webhooks",
    has: { "docs/guides/webhooks.md": "We try seven times" },
  },
  {
    prompt: "On the install page, Node 18 should be Node 20",
    has: { "docs/install.md": "Node 20 or newer" },
    lacks: { "docs/install.md": "Node 18" },
  },
  {
    prompt: "find and replace: Control Panel => Admin area",
    has: { "docs/faq.md": "In the Admin area" },
    lacks: { "docs/reference/errors.md": "Control Panel" },
  },

  // Pages that go.
  {
    prompt: "Delete the billing page",
    gone: ["docs/guides/billing.md"],
    lacks: { "mkdocs.yml": "guides/billing.md\n" },
  },
  { prompt: "get rid of faq.md", gone: ["docs/faq.md"], lacks: { "mkdocs.yml": "FAQ" } },
  {
    prompt: "remove the errors page and send people to the CLI page",
    gone: ["docs/reference/errors.md"],
    has: { "mkdocs.yml": "reference/errors.md: reference/cli.md" },
  },
  { prompt: "We don't need the quickstart anymore, drop it", gone: ["docs/guides/quickstart.md"] },
  { prompt: "delete billing and faq", gone: ["docs/guides/billing.md", "docs/faq.md"] },

  // Sections.
  {
    prompt: "Move the section Requirements from install to the quickstart",
    has: { "docs/guides/quickstart.md": "## Requirements" },
    lacks: { "docs/install.md": "## Requirements" },
  },
  {
    prompt: "move ## Refunds from the billing page to faq.md",
    has: { "docs/faq.md": ["## Refunds", "(#refunds)"] },
    lacks: { "docs/guides/billing.md": "Refunds" },
  },
  {
    prompt: "Split Retries out of webhooks into its own page",
    has: { "docs/guides/retries.md": "We try five times" },
    lacks: { "docs/guides/webhooks.md": "We try five times" },
  },
  {
    prompt: "make the section 'Verify signatures' a separate page guides/signatures.md",
    has: { "docs/guides/signatures.md": "Compare the header" },
    lacks: { "docs/guides/webhooks.md": "Compare the header" },
  },
  {
    prompt: "Extract the login section of the cli reference into reference/login.md",
    has: { "docs/reference/login.md": "Stores a token" },
    lacks: { "docs/reference/cli.md": "Stores a token" },
  },
  {
    prompt: "The Uninstall section belongs in the FAQ",
    has: { "docs/faq.md": "## Uninstall" },
    lacks: { "docs/install.md": "## Uninstall" },
  },
  { prompt: "delete the Uninstall section from the install page", lacks: { "docs/install.md": "Uninstall" } },

  // Navigation.
  {
    prompt: "Hide the billing page from the sidebar",
    has: { "docs/guides/billing.md": "# Billing" },
    lacks: { "mkdocs.yml": "guides/billing.md\n" },
  },
  {
    prompt: "take FAQ out of the navigation but keep the page",
    has: { "docs/faq.md": "# FAQ" },
    lacks: { "mkdocs.yml": "faq.md" },
  },
  { prompt: "Put FAQ first in the menu", has: { "mkdocs.yml": "nav:\n  - FAQ: faq.md" } },
  {
    prompt: "show billing before webhooks in the sidebar",
    has: { "mkdocs.yml": "- Billing: guides/billing.md\n      - Webhooks" },
  },
  { prompt: "rename the nav entry Install to Installation", has: { "mkdocs.yml": "- Installation: install.md" } },

  // New pages.
  { prompt: "Create a page guides/testing.md with the title Testing", has: { "docs/guides/testing.md": "Testing" } },
  {
    prompt: "add a new page called Troubleshooting to the guides",
    has: { "docs/guides/troubleshooting.md": "Troubleshooting" },
  },
  { prompt: "we need an empty page reference/limits, title 'Limits'", has: { "docs/reference/limits.md": "Limits" } },

  // Front matter.
  {
    prompt: "Set the description of the install page to 'How to install Courier'",
    has: { "docs/install.md": "description: How to install Courier" },
  },
  {
    prompt: "change the webhooks description to: Events by HTTP.",
    has: { "docs/guides/webhooks.md": "description: Events by HTTP" },
  },
  {
    prompt: "add description 'Error codes' to reference/errors.md",
    has: { "docs/reference/errors.md": "description: Error codes" },
  },

  // Redirects.
  {
    prompt: "Redirect old/start.md to guides/quickstart.md",
    has: { "mkdocs.yml": "old/start.md: guides/quickstart.md" },
  },
  { prompt: "add a redirect from /old/v1 to /install", has: { "mkdocs.yml": "old/v1.md: install.md" } },

  // Repairs. The test adds one broken link and one broken anchor to the FAQ.
  { prompt: "Fix the broken links", has: { "docs/faq.md": ["(install.md)"] }, lacks: { "docs/faq.md": "isntall.md" } },
  { prompt: "some links are dead, please repair them", lacks: { "docs/faq.md": "isntall.md" } },
  {
    prompt: "repair anchors",
    has: { "docs/faq.md": "#verify-signatures" },
    lacks: { "docs/faq.md": "verify-signtures)" },
  },
  {
    prompt: "fix all anchors that point nowhere",
    has: { "docs/faq.md": "#verify-signatures" },
    lacks: { "docs/faq.md": "verify-signtures)" },
  },
  { prompt: "check the FAQ for broken links and fix what you find", lacks: { "docs/faq.md": "isntall.md" } },

  // Two things in one request.
  {
    prompt: "Rename webhooks.md to events.md and change its title to Events",
    gone: ["docs/guides/webhooks.md"],
    has: { "docs/guides/events.md": "# Events" },
  },
  {
    prompt: "delete faq.md, then rename Control Panel to Dashboard",
    gone: ["docs/faq.md"],
    has: { "docs/guides/billing.md": "in the Dashboard" },
  },
  {
    prompt: "Move billing to reference and hide it from the navigation",
    gone: ["docs/guides/billing.md"],
    has: { "docs/reference/billing.md": "# Billing" },
    lacks: { "mkdocs.yml": "Billing: " },
  },
  {
    prompt: "Rename install to setup, and webhooks to events",
    gone: ["docs/install.md", "docs/guides/webhooks.md"],
    has: { "docs/setup.md": "#", "docs/guides/events.md": "#" },
  },
  {
    prompt: "1. move errors to guides\n2. move cli to guides",
    gone: ["docs/reference/errors.md", "docs/reference/cli.md"],
    has: { "docs/guides/errors.md": "#", "docs/guides/cli.md": "#" },
  },
];
