import { parentPort, workerData } from "node:worker_threads";
import type { Dialect } from "../parse/dialect.ts";
import { isAsciiText, toByteString } from "../text/bytes.ts";
import { indexLines } from "../text/line-index.ts";
import type { Severity } from "../types.ts";
import { readPassages } from "./passages.ts";
import { findSlips } from "./spelling.ts";
import { createWordList, readDictionary, tradeWords } from "./word-list.ts";

/** What a thread looks for. */
export type ProseRules = { kind: "spelling"; words: readonly string[] };

export interface ProsePage {
  path: string;
  bytes: Uint8Array;
  dialect: Dialect;
}

export interface ProseReport {
  line: number;
  column: number;
  message: string;
  severity?: Severity;
  certainty?: "likely";
  why?: string;
}

type Judge = (page: ProsePage) => ProseReport[];

async function createSpelling(words: readonly string[]): Promise<Judge> {
  const { default: dictionary } = await import("dictionary-en");
  const decoder = new TextDecoder();
  const list = createWordList(readDictionary(decoder.decode(dictionary.aff), decoder.decode(dictionary.dic)), [
    ...tradeWords,
    ...words,
  ]);
  return ({ bytes, dialect }) => {
    const text = toByteString(bytes);
    const { place } = indexLines(text, isAsciiText(text));
    return findSlips(readPassages(text, dialect), list).map(({ passage, start, word }) => {
      const near = list.near(word).map((one) => `\`${one}\``);
      const hint = near.length === 0 ? "correct it, or add it to the dictionary" : `did you mean ${near.join(" or ")}?`;
      const message = `\`${word}\` may be misspelled; ${hint.replace(/([^?])$/, "$1.")}`;
      const why = "no dictionary has every word";
      return { ...place(passage.at(start)), message, certainty: "likely", why };
    });
  };
}

const rules = workerData as ProseRules;
const judge = createSpelling(rules.words);

parentPort?.on("message", async (page: ProsePage) => {
  parentPort?.postMessage((await judge)(page));
});
