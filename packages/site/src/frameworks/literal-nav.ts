import {
  type ArrayLiteral,
  entryOf,
  insertMember,
  type Literal,
  type ObjectLiteral,
  quoteLike,
  type StringLiteral,
  someLiteral,
  stringOf,
  walkLiteral,
} from "../literal/literal.ts";
import { encodePiece, indexLines } from "../text/bytes.ts";
import type { ComputedEntry, Label, NavItem, NavList } from "./framework.ts";

export interface LiteralNav {
  lists: NavList[];
  labels: Label[];
  /** The build lists some pages itself: from a folder, or by code. */
  isGrown: boolean;
  /** Texts in lists that code changes: what they become is unknown. */
  computed: ComputedEntry[];
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
  /** The key of a text that a group puts before the targets of its elements. */
  baseKey?: string;
  /** The folder that an element stands for, with the string that names it. */
  folder?(item: ObjectLiteral): { path: string; below: string; name: StringLiteral } | null;
  isForeign(target: string, item: Literal): boolean;
  /** The target as the model looks it up. `key`: the key it was written under, or "" for a plain string. */
  name(target: string, key: string): string;
  /** How a target is written in the file. `route`: the page's route, if known. */
  write(target: string, key: string, route?: string): string;
}

interface Place {
  trail: readonly string[];
  isListed: boolean;
  base: string;
}

/** A target as it follows a base. */
function inBase(target: string, base: string): string {
  return base.endsWith("/") ? target.replace(/^\//, "") : target;
}

/** How a target is written below a base. Null: it is not below it. */
function withoutBase(target: string, base: string): string | null {
  return target.startsWith(base) ? target.slice(base.length) : null;
}

/** What follows a value of which a member is used, such as `.map(`. */
const isMember = /^\s*(?:\?\.|\.(?!\.)|\[)/;
const isCallee = /[\w$\])]\s*$/;

/** Reads navigation from arrays of strings and objects in JSON, JavaScript or TypeScript. */
export function literalNav(source: LiteralNavSource, root: Literal): LiteralNav {
  const nav: LiteralNav = { lists: [], labels: [], isGrown: false, computed: [] };
  const lines = indexLines(source.text);
  // Lists elsewhere in the file may be those of a group with a base.
  const isLoose = someLiteral(
    root,
    (node) => baseOf(node) !== undefined && source.listKeys.some((key) => entryOf(node, key)?.kind === "other"),
  );
  visit(root, { trail: [], isListed: false, base: "" });
  return nav;

  function visit(node: Literal, place: Place): void {
    if (node.kind === "array" && isLoose && !place.isListed) setAside(node);
    else if (node.kind === "array") list(node, place);
    else if (node.kind === "object") group(node, place);
    else if (node.kind === "other") {
      nav.isGrown ||= node.children.length === 0 && source.text.slice(node.start, node.start + 3) === "...";
      const isCall = isCallAt(node.start);
      for (const child of node.children) {
        const isChanged = isMember.test(source.text.slice(child.end, child.end + 40));
        const isArgument = isCall && (place.isListed || child.kind === "array");
        if (isChanged || isArgument) setAside(child);
        else visit(child, place);
      }
    }
  }

  /** Whether a bracket holds the arguments of a call. */
  function isCallAt(start: number): boolean {
    return source.text[start] === "(" && isCallee.test(source.text.slice(Math.max(0, start - 40), start));
  }

  /** Names in what a call receives or changes are not read as entries: only the build knows what they become. */
  function setAside(node: Literal): void {
    const texts: ComputedEntry[] = [];
    for (const one of walkLiteral(node)) {
      const isEntry = one.kind === "string" ? source.hasBareTexts !== false : targetOf(one) !== undefined;
      const text = one.kind === "string" ? one.value : stringOf(targetOf(one));
      if (isEntry && text !== null) texts.push({ file: source.file, line: lines.place(one.start).line, text });
    }
    nav.computed.push(...texts);
    nav.isGrown ||= texts.length > 0;
  }

  function list(node: ArrayLiteral, place: Place): void {
    const items: NavItem[] = [];
    for (const item of node.items) items.push(itemOf(item, baseIn(item, place)));
    if (items.some((item) => item.target !== null || item.folder !== undefined)) {
      nav.lists.push({
        file: source.file,
        trail: place.trail,
        items,
        written(target, item, route) {
          const literal = node.items[items.indexOf(item)];
          return withoutBase(source.write(target, keyOf(literal), route), baseIn(literal, place));
        },
        insert: (text, index, target, title) =>
          insertMember(text, node, index, render(text, node, withoutBase(target, place.base) ?? target, title)),
      });
    }
    for (const item of node.items) if (item.kind !== "string") visit(item, { ...place, isListed: true });
  }

  function baseOf(node: Literal | undefined): Literal | undefined {
    return source.baseKey === undefined ? undefined : entryOf(node, source.baseKey);
  }

  /** The base of an element: its own, or its group's. */
  function baseIn(node: Literal | undefined, place: Place): string {
    return stringOf(baseOf(node)) ?? place.base;
  }

  function itemOf(item: Literal, base = ""): NavItem {
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
      target:
        target === null ? null : source.name(base + inBase(target.replace(/(.)[?#].*$/, "$1"), base), keyOf(item)),
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

  function group(node: ObjectLiteral, place: Place): void {
    const { trail, isListed } = place;
    // Other settings have the same name.
    const isBased = baseOf(node) !== undefined && source.listKeys.some((key) => entryOf(node, key) !== undefined);
    if (isBased && stringOf(baseOf(node)) === null) {
      setAside(node);
      return;
    }
    const base = isBased ? baseIn(node, place) : place.base;
    const label = labelOf(node);
    if (label !== undefined) nav.labels.push({ file: source.file, start: label.start + 1, end: label.end - 1 });
    if (stringOf(entryOf(node, "type")) === "autogenerated" || entryOf(node, "autogenerate") !== undefined)
      nav.isGrown = true;
    const inner = label?.kind === "string" ? [...trail, label.value] : trail;
    for (const { key, value } of node.entries) {
      if (source.otherKeys?.includes(key)) continue;
      if (source.pageKeys?.includes(key)) onePage(value, inner);
      const isList = source.listKeys.includes(key);
      const names = isList || value.kind !== "array" ? inner : [...inner, key];
      visit(value, { trail: names, isListed: isListed || isList, base });
    }
    for (const child of node.children) visit(child, { trail: inner, isListed, base });
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
