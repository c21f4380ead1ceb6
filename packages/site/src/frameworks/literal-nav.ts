import {
  type ArrayLiteral,
  entryOf,
  insertMember,
  type Literal,
  type ObjectLiteral,
  quoteLike,
  type StringLiteral,
  stringOf,
} from "../literal/literal.ts";
import { encodePiece, indexLines } from "../text/bytes.ts";
import type { Label, NavItem, NavList } from "./framework.ts";

export interface LiteralNav {
  lists: NavList[];
  labels: Label[];
  /** The build lists some pages itself: from a folder, or by code. */
  isGrown: boolean;
}

export interface LiteralNavSource {
  file: string;
  text: string;
  /** Keys of an object element that name its page. The first one found counts. */
  targetKeys: readonly string[];
  labelKeys: readonly string[];
  /** Keys whose arrays are lists of elements. */
  listKeys: readonly string[];
  /** Keys whose arrays are not lists of pages. */
  otherKeys?: readonly string[];
  /** A plain string in a list names a page. "if used": write one only if the list already has another. */
  hasBareTexts: boolean | "if used";
  /** Keys whose object names the single page of a group. */
  pageKeys?: readonly string[];
  /** The folder that an element stands for, with the string that names it. */
  folder?(item: ObjectLiteral): { path: string; below: string; name: StringLiteral } | null;
  isForeign(target: string, item: Literal): boolean;
  /** The target as the model looks it up. `key`: the key it was written under, or "" for a plain string. */
  name(target: string, key: string): string;
  /** How a target is written in the file. `route`: the page's route, if known. */
  write(target: string, key: string, route?: string): string;
}

/** Reads navigation from arrays of strings and objects in JSON, JavaScript or TypeScript. */
export function literalNav(source: LiteralNavSource, root: Literal): LiteralNav {
  const nav: LiteralNav = { lists: [], labels: [], isGrown: false };
  const lines = indexLines(source.text);
  visit(root, []);
  return nav;

  function visit(node: Literal, trail: readonly string[]): void {
    if (node.kind === "array") list(node, trail);
    else if (node.kind === "object") group(node, trail);
    else if (node.kind === "other") {
      nav.isGrown ||= node.children.length === 0 && source.text.slice(node.start, node.start + 3) === "...";
      for (const child of node.children) visit(child, trail);
    }
  }

  function list(node: ArrayLiteral, trail: readonly string[]): void {
    const items: NavItem[] = [];
    for (const item of node.items) items.push(itemOf(item));
    if (items.some((item) => item.target !== null || item.folder !== undefined)) {
      nav.lists.push({
        file: source.file,
        trail,
        items,
        written: (target, item, route) => source.write(target, keyOf(node.items[items.indexOf(item)]), route),
        insert: (text, index, target, title) => insertMember(text, node, index, render(text, node, target, title)),
      });
    }
    for (const item of node.items) if (item.kind !== "string") visit(item, trail);
  }

  function itemOf(item: Literal): NavItem {
    const grown = item.kind === "object" ? (source.folder?.(item) ?? null) : null;
    const named = grown?.name ?? (item.kind === "string" && source.hasBareTexts !== false ? item : targetOf(item));
    const target = grown === null ? stringOf(named) : null;
    const start = (named?.start ?? item.start) + 1;
    const end = (named?.end ?? item.end) - 1;
    // The text after the page's name stays with the entry.
    const tail = target === null ? -1 : source.text.slice(start, end).search(/[?#]/);
    return {
      start: item.start,
      end: item.end,
      ...lines.place(item.start),
      target: target === null ? null : source.name(target.replace(/(.)[?#].*$/, "$1"), keyOf(item)),
      targetStart: start,
      targetEnd: tail < 1 ? end : start + tail,
      label: item.kind === "object" ? stringOf(labelOf(item)) : null,
      isForeign: target !== null && source.isForeign(target, item),
      ...(grown === null ? {} : { folder: { path: grown.path, below: grown.below } }),
    };
  }

  /** A slot for one page. */
  function onePage(value: Literal, trail: readonly string[]): void {
    const item = itemOf(value);
    if (item.target === null) return;
    nav.lists.push({
      file: source.file,
      trail,
      items: [item],
      isFixed: true,
      written: (target, _item, route) => source.write(target, keyOf(value), route),
      insert: () => ({ start: item.end, end: item.end, text: "" }),
    });
  }

  function keyOf(item: Literal | undefined): string {
    return source.targetKeys.find((key) => entryOf(item, key)?.kind === "string") ?? "";
  }

  function targetOf(item: Literal): Literal | undefined {
    return source.targetKeys.map((key) => entryOf(item, key)).find((value) => value?.kind === "string");
  }

  function labelOf(item: Literal): Literal | undefined {
    return source.labelKeys.map((key) => entryOf(item, key)).find((value) => value?.kind === "string");
  }

  function group(node: ObjectLiteral, trail: readonly string[]): void {
    const label = labelOf(node);
    if (label !== undefined) nav.labels.push({ file: source.file, start: label.start + 1, end: label.end - 1 });
    if (stringOf(entryOf(node, "type")) === "autogenerated" || entryOf(node, "autogenerate") !== undefined)
      nav.isGrown = true;
    const inner = label?.kind === "string" ? [...trail, label.value] : trail;
    for (const { key, value } of node.entries) {
      if (source.otherKeys?.includes(key)) continue;
      if (source.pageKeys?.includes(key)) onePage(value, inner);
      const isNamed = source.listKeys.includes(key) || value.kind !== "array";
      visit(value, isNamed ? inner : [...inner, key]);
    }
    for (const child of node.children) visit(child, inner);
  }

  function render(text: string, node: ArrayLiteral, target: string, title: string): string {
    const sample = node.items.find((item) => item.kind === "object" && targetOf(item) !== undefined);
    const bare = node.items.find((item) => item.kind === "string");
    if (
      source.hasBareTexts !== false &&
      (bare !== undefined || (sample === undefined && source.hasBareTexts === true))
    ) {
      return encodePiece(quoteLike(text, bare, source.write(target, "")));
    }
    if (sample?.kind !== "object") {
      const key = source.targetKeys[0] as string;
      return encodePiece(
        `{ ${source.labelKeys[0]}: ${JSON.stringify(title)}, ${key}: ${JSON.stringify(source.write(target, key))} }`,
      );
    }
    const targetKey = keyOf(sample);
    const written = source.write(target, targetKey);
    const labelKey = source.labelKeys.find((key) => entryOf(sample, key)?.kind === "string");
    const quote = (value: string): string => quoteLike(text, entryOf(sample, targetKey), value);
    const label = labelKey === undefined ? "" : `${labelKey}: ${quote(title)}, `;
    return encodePiece(`{ ${label}${targetKey}: ${quote(written)} }`);
  }
}
