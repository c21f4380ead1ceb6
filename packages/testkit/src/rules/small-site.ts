/** A small site without problems, except one broken link in each folder. */
const navigation = {
  groups: [
    { group: "Start", pages: ["index", "quickstart"] },
    { group: "Guides", pages: ["guides/auth", "guides/send", "guides/hooks"] },
  ],
};

export const smallSite: Readonly<Record<string, string>> = {
  "docs.json": `${JSON.stringify({ name: "Docs", navigation }, null, 2)}\n`,
  "index.mdx": "---\ntitle: Home\n---\n\nSee [keys](/guides/auth#create-a-token) and [lost](/guides/sned).\n",
  "quickstart.mdx":
    "---\ntitle: Quick start\nhidden: false\n---\n\n## Setup\n\nGet an API token, see [setup](#setup).\n",
  "guides/auth.mdx":
    '---\ntitle: Authentication\n---\n\n## Create a token\n\nAn API token opens doors. Some API tokens expire.\n\n```sh\necho "API token"\n```\n',
  "guides/send.mdx": "---\ntitle: Send\n---\n\nUse the API token from [auth](./auth), [lost](./hoks).\n",
  "guides/hooks.mdx": "---\ntitle: Hooks\n---\n\nCalls you back.\n",
  "guides/extra.mdx": "---\ntitle: Extra\n---\n\nNobody lists me.\n",
};
