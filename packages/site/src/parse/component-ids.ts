import { decodePiece } from "../text/bytes.ts";
import type { Tag } from "./scan-tag.ts";
import { componentId, createSlugger, parameterId } from "./slug.ts";

const parameters = new Set(["ParamField", "Param", "ResponseField"]);
const parameterNames = new Set(["query", "path", "body", "header", "name"]);
const titleSizes = new Set(["h2", "h3"]);

/** Creates the ids of Mintlify's components from their titles and names, in page order. */
export function createComponentIds(): (tag: Tag, text: string) => string | null {
  const tabs = createSlugger("mintlify");
  const entries = createSlugger("mintlify");
  const counts = new Map<string, number>();
  let stepsSize = "";

  function countOf(key: string): number {
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count;
  }

  return (tag, text) => {
    const value = (name: string): string => {
      const found = tag.attributes.find((attribute) => attribute.name === name)?.value;
      return found ? decodePiece(text.slice(found.start, found.end)).replaceAll("`", "") : "";
    };
    if (parameters.has(tag.name)) {
      const name = tag.attributes.find((attribute) => parameterNames.has(attribute.name))?.name;
      const field = name === undefined ? "" : value(name);
      return field === "" ? null : parameterId(field, countOf(`${field}()`));
    }
    if (tag.name === "Steps") stepsSize = value("titleSize");
    const title = value("title");
    if (tag.attributes.some(({ name }) => name === "id")) return null;
    if (tag.name === "Update") return value("label") === "" ? null : entries.next(value("label"));
    if (title === "") return null;
    if (tag.name === "Tab") return tabs.next(title);
    if (tag.name === "Step") return titleSizes.has(value("titleSize") || stepsSize) ? entries.next(title) : null;
    if (tag.name !== "Accordion" && tag.name !== "View") return null;
    const base = componentId(title.replace(":", "-"));
    const count = countOf(`${tag.name} ${base}`);
    return count === 0 ? base : `${base}-${count}`;
  };
}
