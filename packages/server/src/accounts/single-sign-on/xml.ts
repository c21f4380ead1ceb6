import { createRequire } from "node:module";
import type { Element } from "@xmldom/xmldom";

const require = createRequire(import.meta.url);
/** When it is used first: every command reads the settings, and few have a metadata document. */
const loadParser = (): typeof import("@xmldom/xmldom") => require("@xmldom/xmldom");

const names = {
  protocol: "urn:oasis:names:tc:SAML:2.0:protocol",
  assertion: "urn:oasis:names:tc:SAML:2.0:assertion",
  metadata: "urn:oasis:names:tc:SAML:2.0:metadata",
  signature: "http://www.w3.org/2000/09/xmldsig#",
} as const;
type Namespace = keyof typeof names;

/** The root of a well-formed document with this name. Null for anything else, and for documents that define entities. */
export function parseXml(text: string, namespace: Namespace, name: string): Element | null {
  if (/<!DOCTYPE/i.test(text)) return null;
  const { DOMParser, onErrorStopParsing } = loadParser();
  try {
    const root = new DOMParser({ onError: onErrorStopParsing }).parseFromString(text, "text/xml").documentElement;
    return root && isNamed(root, namespace, name) ? root : null;
  } catch {
    return null;
  }
}

export function childrenOf(parent: Element, namespace: Namespace, name: string): Element[] {
  return Array.from(parent.childNodes).filter((node): node is Element => isNamed(node as Element, namespace, name));
}

/** Null if there is none or more than one: two would be read differently by different programs. */
export function onlyChild(parent: Element | null, namespace: Namespace, name: string): Element | null {
  const found = parent ? childrenOf(parent, namespace, name) : [];
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** All elements below, of any namespace if none is named. */
export function everyElement(root: Element, name: string, namespace?: Namespace): Element[] {
  return Array.from(root.getElementsByTagNameNS(namespace === undefined ? "*" : names[namespace], name));
}

export function textOf(element: Element | null): string {
  return (element?.textContent ?? "").trim();
}

function isNamed(node: Element, namespace: Namespace, name: string): boolean {
  return node.localName === name && node.namespaceURI === names[namespace];
}
