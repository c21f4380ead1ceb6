import { relay, relayCode, serviceFiles } from "../relay.ts";
import { listed, named, type SiteModel, withPage } from "../site-model.ts";
import type { EvalTask } from "../task.ts";
import { type Definition, tasksOf } from "./define.ts";
import { exactTasks } from "./exact.ts";
import { followUpTasks, injectionTasks, restraintTasks } from "./restraint.ts";

/** Every task on every framework's site. */
export function evalTasks(): readonly EvalTask[] {
  return tasksOf([...exactTasks, ...writtenTasks, ...injectionTasks, ...restraintTasks, ...followUpTasks]);
}

// Tasks whose text the agent words itself: judged by the facts in it, what must stay, and where it stands.
/** A new page may stand anywhere in its group. */
function listedAnywhere(page: string, title: string, group: string): readonly SiteModel[] {
  const site = withPage(relay, page, { title, body: "" });
  const places = relay.navigation.find((entry) => entry.group === group)?.pages ?? [];
  return [listed(site, page, group), ...places.map((after) => listed(site, page, group, after))];
}

const quota = serviceFiles["src/quota.ts"] ?? "";

const writtenTasks: readonly Definition[] = [
  {
    kind: "document code",
    name: "a function on a new page",
    prompt: (framework) =>
      `Write a page ${named(framework, "reference/send-message")} that documents the function sendMessage of src/relay.ts, each parameter with its default where it has one, and list it in the navigation under Reference.`,
    right: listedAnywhere("reference/send-message", "sendMessage", "Reference"),
    written: {
      page: "reference/send-message",
      title: "sendMessage",
      facts: [
        { name: "channel", value: null },
        { name: "text", value: null },
        { name: "attempts", value: "3", or: /\bthree\b/i },
      ],
      source: relayCode,
      texts: [
        "`sendMessage` sends a message to a channel.\n\n- `channel`: the name of the channel that the message goes to.\n- `text`: what the message says.\n- `attempts`: how many times Relay tries before it gives up. The default is 3.\n",
        "Send a message and wait for its receipt.\n\n```ts\nsendMessage(channel, text, attempts)\n```\n\n| Parameter | What it is | Default |\n| --- | --- | --- |\n| `channel` | the channel to send to | |\n| `text` | the text of the message | |\n| `attempts` | the number of tries | 3 |\n",
      ],
    },
    tells: [/sendMessage/],
    words: [
      ["Document sendMessage", "The new page lists the three parameters of sendMessage and the default of attempts."],
      ["Add a reference page for sendMessage", "It is listed under Reference and follows the code in src/relay.ts."],
    ],
  },
  {
    kind: "document code",
    name: "a function in an existing page",
    prompt: (framework) =>
      `Add a section "Connections" at the end of ${named(framework, "reference/options")} that documents the parameters of openConnection in src/relay.ts.`,
    written: {
      page: "reference/options",
      title: "Options",
      section: "Connections",
      facts: [
        { name: "address", value: null },
        { name: "timeoutMs", value: null },
      ],
      source: relayCode,
      texts: [
        "`openConnection` opens a connection.\n\n- `address`: the address to connect to.\n- `timeoutMs`: how long the handshake may take, in milliseconds.\n",
        "Open a connection with `openConnection`. Its `address` says where to connect to.\n\nThe handshake is bounded by `timeoutMs`, which is required.\n",
      ],
    },
    tells: [/openConnection|Connections/],
    words: [
      ["Document openConnection", "The options page has a section on connections with both of the parameters."],
      ["Add a section Connections", "It documents the parameters of openConnection at the end of the options."],
    ],
  },
  {
    kind: "document code",
    name: "environment variables",
    prompt: (framework) =>
      `Add a section "Environment" at the end of ${named(framework, "reference/options")} that lists the environment variables that src/relay.ts reads, each with its default.`,
    written: {
      page: "reference/options",
      title: "Options",
      section: "Environment",
      facts: [
        { name: "RELAY_REGION", value: "eu-west" },
        { name: "RELAY_POOL_SIZE", value: "12" },
      ],
      source: relayCode,
      texts: [
        "Relay reads these variables when it starts.\n\n| Variable | Default |\n| --- | --- |\n| `RELAY_REGION` | `eu-west` |\n| `RELAY_POOL_SIZE` | `12` |\n",
        "- `RELAY_REGION` is the region that Relay runs in. It is `eu-west` unless you set it.\n- `RELAY_POOL_SIZE` is the size of the pool, 12 by default.\n",
      ],
    },
    tells: [/environment|RELAY_/i],
    words: [
      ["Document the environment variables", "The options page lists both of the variables with their defaults."],
      ["List what Relay reads from the environment", "The defaults are taken from the code in src/relay.ts."],
    ],
  },
  {
    kind: "document a context repository",
    name: "a function on a new page",
    context: { service: serviceFiles },
    prompt: (framework) =>
      `Write a page ${named(framework, "reference/hold-back")} that documents the function holdBack of the service repository, each parameter with its default where it has one, and list it in the navigation under Reference. Cite the lines.`,
    right: listedAnywhere("reference/hold-back", "holdBack", "Reference"),
    written: {
      page: "reference/hold-back",
      title: "holdBack",
      facts: [
        { name: "channel", value: null },
        { name: "waitMs", value: null },
        { name: "waitMsMax", value: "9000", or: /9,000|nine (thousand|seconds)/i },
        { name: "urgent", value: "false", or: /\boff\b|\bnot set\b/i },
      ],
      source: quota,
      texts: [
        "`holdBack` holds a message back.\n\n- `channel`: the channel of the message.\n- `waitMs`: how long to wait. It grows with every try.\n- `waitMsMax`: the longest wait. The default is 9000.\n- `urgent`: if set, the message does not wait. The default is `false`.\n",
        "Hold a message back before it is sent again.\n\n| Parameter | What it is | Default |\n| --- | --- | --- |\n| `channel` | the channel | |\n| `waitMs` | the wait, which grows with every try | |\n| `waitMsMax` | the longest wait | 9,000 |\n| `urgent` | do not wait at all | `false` |\n",
      ],
    },
    cites: "@service/src/quota.ts",
    sources: ["@service/src/quota.ts:9"],
    tells: [/holdBack/],
    words: [
      ["Document holdBack", "The new page lists the four parameters of holdBack with the defaults of the service."],
      ["Add a reference page for holdBack", "It is listed under Reference, and the lines of the code are cited."],
    ],
  },
  {
    kind: "document a context repository",
    name: "a limit in an existing page",
    context: { service: serviceFiles },
    prompt: (framework) =>
      `Add a section "Limits" at the end of ${named(framework, "reference/options")} that says how many messages a channel may send in a minute, as the code of @service has it. Cite the line.`,
    written: {
      page: "reference/options",
      title: "Options",
      section: "Limits",
      facts: [{ name: "messages", value: "42", or: /forty-two/i }],
      source: quota,
      texts: [
        "A channel may send 42 messages in a minute. After that they wait.\n",
        "Each channel is limited to 42 messages a minute (`messagesPerMinuteMax`); further ones wait for their turn.\n",
      ],
    },
    cites: "@service/src/quota.ts",
    sources: ["@service/src/quota.ts:4"],
    tells: [/42|limit/i],
    words: [
      ["Document the limit of a channel", "The options page says that a channel may send 42 messages in a minute."],
      ["Add a section on limits", "The limit is taken from the code of the service, and the line is cited."],
    ],
  },
  {
    kind: "follow-up",
    name: "a function, then its error",
    prompt: (framework) =>
      `Add a section "Sending" at the end of ${named(framework, "guides/retries")} that documents the parameters of sendMessage in src/relay.ts, with their defaults.`,
    followUps: () => [
      "In the same section, also say that it resolves to a Receipt, as the code has it. Keep the rest of the section.",
    ],
    written: {
      page: "guides/retries",
      title: "Retries",
      section: "Sending",
      facts: [
        { name: "channel", value: null },
        { name: "text", value: null },
        { name: "attempts", value: "3", or: /\bthree\b/i },
        { name: "Receipt", value: null },
      ],
      source: relayCode,
      texts: [
        "`sendMessage` takes these parameters.\n\n- `channel`: the channel to send to.\n- `text`: the text of the message.\n- `attempts`: how many times it tries, 3 by default.\n\nIt resolves to a `Receipt`.\n",
        "Call `sendMessage`, which resolves to a `Receipt`:\n\n| Parameter | Default |\n| --- | --- |\n| `channel`, where it goes to | |\n| `text`, what it says | |\n| `attempts`, how often it tries | 3 |\n",
      ],
    },
    tells: [/sendMessage|Sending|Receipt/],
    words: [
      [
        "Document sendMessage in the retries guide",
        "The new section lists the parameters and says that it resolves to a Receipt.",
      ],
      ["Add a section Sending", "It documents sendMessage with its default and what it resolves to."],
    ],
  },
];
