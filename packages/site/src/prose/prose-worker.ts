import { parentPort, workerData } from "node:worker_threads";
import type { Dialect } from "../parse/dialect.ts";
import { indexLines, isAsciiText, toByteString } from "../text/bytes.ts";
import type { Severity } from "../types.ts";
import { readPassages } from "./passages.ts";
import { findSlips } from "./spelling.ts";
import type { ValeFiles } from "./vale/config.ts";
import { judgePage } from "./vale/judge-page.ts";
import { loadStyles } from "./vale/load-styles.ts";
import { createWordList, readDictionary, tradeWords } from "./word-list.ts";

/** The rules of a thread. */
export type ProseRules =
  | { kind: "spelling"; words: readonly string[] }
  /** `left`: names of rules that were disabled because they took too long. */
  | { kind: "vale"; configFile: string; files: ValeFiles; left: readonly string[] };

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
      return { ...place(passage.at(start)), message, why };
    });
  };
}

const severityOf = { suggestion: "info", warning: "warning", error: "error" } as const;

function createVale(configFile: string, files: ValeFiles, left: readonly string[], running: Int32Array): Judge {
  const styles = loadStyles(configFile, files);
  const used = { ...styles, settingsFor: (path: string) => without(styles.settingsFor(path), left) };
  return ({ path, bytes, dialect }) => {
    const text = toByteString(bytes);
    const { place } = indexLines(text, isAsciiText(text));
    const alerts = judgePage(used, path, text, readPassages(text, dialect), (index) =>
      Atomics.store(running, 0, index),
    );
    return alerts.map(({ rule, level, offset, message }) => ({
      ...place(offset),
      message: `${message.replace(/([^.!?)])$/, "$1.")} (${rule})`,
      severity: severityOf[level],
    }));
  };
}

function without<T extends { runs(name: string): boolean }>(settings: T, left: readonly string[]): T {
  return { ...settings, runs: (name: string) => !left.includes(name) && settings.runs(name) };
}

const { rules, running } = workerData as { rules: ProseRules; running: SharedArrayBuffer };
const judge =
  rules.kind === "spelling"
    ? createSpelling(rules.words)
    : createVale(rules.configFile, rules.files, rules.left, new Int32Array(running));

const loaded = await judge;
parentPort?.on("message", (page: ProsePage) => parentPort?.postMessage(loaded(page)));
parentPort?.postMessage("ready");
