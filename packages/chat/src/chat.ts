import { Fault } from "@emend/base/fault.ts";
import type { Logger } from "@emend/base/logger.ts";
import type { Dispatcher } from "undici";

/** A chat, behind one interface: a folder for each. */
export interface Chat {
  readonly name: ChatName;
  /** Receives until it is stopped, and reconnects by itself. Null: this chat calls us instead (`readSlackRequest`). */
  listen: ((deps: ListenDeps) => Listening) | null;
  /** Posts in a thread. Returns the chat's id of the message. `id` is ours, for `find`. */
  post(place: Place, id: string, content: Content): Promise<string>;
  /** No error if somebody deleted it. */
  edit(place: Place, message: string, id: string, content: Content): Promise<void>;
  /** The message that an attempt of `post` with this id left, if it did. */
  find(place: Place, id: string, since: Date): Promise<string | null>;
  /** What people wrote in the thread so far, oldest first. */
  read(place: Place): Promise<readonly { author: string; message: string; text: string }[]>;
  /** Throws `chat_refused` for more than so many bytes, and for what this chat does not have. */
  download(file: ChatFile, bytesMax: number): Promise<Buffer>;
  /** Only an address that the chat has verified, of a person of the own workspace. */
  emailOf(account: string): Promise<string | null>;
  /** Whether its settings work. Empty: they do. */
  findProblems(): Promise<readonly string[]>;
}

export type ChatName = "slack" | "mattermost";

/** A thread of a channel. */
export interface Place {
  channel: string;
  thread: string;
}

/** What a person did in a chat. The same event, delivered twice, has the same `channel` and `message`. */
export interface Said extends Place {
  message: string;
  author: string;
  text: string;
  /** It mentions Emend, or was written to it directly. */
  isAddressed: boolean;
  isDirect: boolean;
  /** A button was pressed. */
  pressed: string | null;
  files?: readonly ChatFile[];
}

/** A file beside a message. `at`: where the chat has it, for `download`. */
export interface ChatFile {
  name: string;
  type: string;
  bytes: number;
  at: string;
}

export interface ListenDeps {
  log: Logger;
  /** Stores it. The chat hears that it arrived only after this. */
  heard(said: Said): Promise<void>;
  /** What was said before this is stored, or too old. For chats that deliver an event once only. */
  since(): Promise<Date>;
}

/** The operator's network. `dispatcher`: undici's, for sockets through a proxy or with another authority. */
export interface ChatNetwork {
  fetch: typeof globalThis.fetch;
  dispatcher?: Dispatcher | undefined;
}

export interface Listening {
  stop(): Promise<void>;
}

/** Text is shown as it is: no markup, no mention and no link comes out of it. */
export type Span = string | { strong: string } | { link: string; to: string };

export interface Content {
  lines: readonly (readonly Span[])[];
  buttons: readonly { label: string; value: string }[];
}

type ChatFaultCode = "chat_unavailable" | "chat_refused";

export class ChatFault extends Fault<ChatFaultCode> {}

/** The words alone, for notifications. */
export function plainOf({ lines }: Content): string {
  return lines.map((line) => line.map(wordsOf).join("")).join("\n");
}

function wordsOf(span: Span): string {
  if (typeof span === "string") return span;
  return "link" in span ? span.link : span.strong;
}
