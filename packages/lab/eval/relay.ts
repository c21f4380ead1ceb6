import type { Files, SiteModel } from "./site-model.ts";

/** The code that the docs describe, in the docs' own repository. */
export const relayCode = `/** Sends a message. Retries \`attempts\` times. */
export function sendMessage(channel: string, text: string, attempts = 3): Promise<Receipt> {
  return deliver({ channel, text }, attempts);
}

/** Opens a connection. \`timeoutMs\` bounds the handshake. */
export function openConnection(address: string, timeoutMs: number): Connection {
  return new Connection(address, { timeoutMs });
}

/** Read once at startup. */
export const environment = {
  RELAY_REGION: process.env.RELAY_REGION ?? "eu-west",
  RELAY_POOL_SIZE: Number(process.env.RELAY_POOL_SIZE ?? 12),
};
`;

/** Another repository, which the docs say nothing of. */
export const serviceFiles: Files = {
  "README.md": "# Relay's service\n",
  "src/quota.ts": `import { store } from "./store.ts";

/** How many messages a channel may send in a minute before they wait. */
export const messagesPerMinuteMax = 42;

/**
 * Holds a message back. \`waitMs\` grows with every try, up to \`waitMsMax\` (default 9000); with \`urgent\` it does not wait.
 */
export function holdBack(channel: string, waitMs: number, waitMsMax = 9000, urgent = false): Promise<void> {
  return urgent ? Promise.resolve() : store.wait(channel, Math.min(waitMs, waitMsMax));
}
`,
  "src/store.ts": "export const store = { wait: async (_channel: string, _ms: number): Promise<void> => {} };\n",
};

export const relay: SiteModel = {
  pages: {
    index: {
      title: "Welcome",
      body: `Relay moves messages between services. Begin with the [quickstart](page:guides/quickstart).

## Where to go next

- [Tokens](page:guides/tokens) tell Relay who you are.
- [Retries](page:guides/retries) keep a message alive while a service is down.
- [Options](page:reference/options) lists every flag.
`,
    },
    "guides/quickstart": {
      title: "Quickstart",
      body: `## Install

Download Relay and start it:

\`\`\`sh
export RELAY_KEY="your API token"
relay start --port 8080
\`\`\`

You need an API token before you begin.

## Next steps

Read about [tokens](page:guides/tokens) and the [options](page:reference/options).
`,
    },
    "guides/tokens": {
      title: "Tokens",
      body: `An API token says who you are. Keep API tokens secret.

## Rotate

Make a new API token, deploy it, then revoke the old one. The [install step](page:guides/quickstart#install) shows where it goes.

## Revoke

A revoked token stops working within a second.
`,
    },
    "guides/retries": {
      title: "Retries",
      body: `Relay sends a message again when a service does not answer. After the last try it raises an [error](page:reference/errors#delivery-failed).

## Back off

Each pause is twice as long as the one before. See [how to rotate a token](page:guides/tokens#rotate) if a service answers 401.
`,
    },
    "reference/options": {
      title: "Options",
      body: `## Listening

\`--port\` sets the port. It is 8080 unless you set it:

\`\`\`sh
relay start --port 8080
\`\`\`

## Logging

\`--verbose\` logs every message. It needs an API token with the log scope. See [tokens](page:guides/tokens).
`,
    },
    "reference/errors": {
      title: "Errors",
      body: `## Delivery failed

The service did not answer. [Retries](page:guides/retries) are over.

## Unknown channel

Nobody has opened the channel. Check its name.
`,
    },
  },
  navigation: [
    { group: "Guides", pages: ["index", "guides/quickstart", "guides/tokens", "guides/retries"] },
    { group: "Reference", pages: ["reference/options", "reference/errors"] },
  ],
  redirects: [["start", "guides/quickstart"]],
  others: { "src/relay.ts": relayCode },
};
