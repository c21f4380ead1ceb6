import type { Files } from "./memory-tree.ts";

/** A small Mintlify site with every form of link to `guides/auth`. */
export const mintlifySite: Files = {
  "docs.json": `{
  "name": "Acme",
  "navigation": {
    "tabs": [
      {
        "tab": "Docs",
        "groups": [
          { "group": "Start", "pages": ["index", "quickstart"] },
          {
            "group": "Guides",
            "pages": [
              "guides/auth",
              "guides/billing"
            ]
          }
        ]
      }
    ]
  }
}
`,
  "index.mdx": `---
title: Welcome
---

Read [auth](/guides/auth), [its scopes](/guides/auth#scopes), [the file](guides/auth.mdx) and [relative](./guides/auth).

See [by reference][auth] and <a href="/guides/auth">HTML</a>.

<Card title="Auth" href="/guides/auth">Keys</Card>

[auth]: /guides/auth#keys "Auth"

\`[not](/guides/auth)\`

\`\`\`md
[not](/guides/auth)
\`\`\`
`,
  "quickstart.mdx": "---\ntitle: Quickstart\n---\n\nGo to [auth](guides/auth.mdx?x=1#scopes).\n",
  "guides/auth.mdx": `---
title: Authentication
---

## Keys

See [billing](./billing) and [start](../quickstart). ![Key](../images/key.png)

## Scopes

Back to [keys](#keys).
`,
  "guides/billing.mdx": "---\ntitle: Billing\n---\n\nNeeds [auth](./auth) and [auth](./auth.mdx#keys).\n",
  "images/key.png": "png",
};
