import { type Document, isScalar, parseDocument, visit } from "yaml";

/** Throws for what is not YAML, and for a key that stands twice: the library's own look for those takes quadratic time. */
export function parseYaml(text: string): Document {
  const document = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  if (document.errors[0]) throw document.errors[0];
  visit(document, {
    Map(_, { items }) {
      const keys = items.map(({ key }) => String(isScalar(key) ? key.value : key));
      if (new Set(keys).size < keys.length) throw new Error("A key stands twice.");
    },
  });
  return document;
}
