/** Docs in which every example on the rules' page has an effect. */
const navigation = {
  groups: [
    { group: "Start", pages: ["index"] },
    { group: "Guides", pages: ["guides/start", "guides/auth", "guides/webhooks", "guides/old", "guides/new"] },
  ],
};

export const docsSite: Readonly<Record<string, string>> = {
  "docs.json": `${JSON.stringify({ name: "Docs", navigation }, null, 2)}\n`,
  "index.mdx": "---\ntitle: Home\n---\n\nA workspace holds [keys](/guides/auth) and [old things](/guides/old).\n",
  "guides/start.mdx": "---\ntitle: Start\ndescription: First steps\n---\n\n## Setup\n\nSee [setup](#setpu), log-in.\n",
  "guides/auth.mdx": "---\ntitle: Authentication\nicon: key\n---\n\nAn API token opens doors: `API token`.\n",
  "guides/webhooks.mdx": "---\ntitle: Webhooks\n---\n\nSee [auth](./auht).\n",
  "guides/old.mdx": "---\ntitle: Old\n---\n\nOld.\n",
  "guides/new.mdx": "---\ntitle: New\n---\n\nNew.\n",
  "guides/limits.mdx": "---\ntitle: Limits\n---\n\nTen a second.\n",
};
