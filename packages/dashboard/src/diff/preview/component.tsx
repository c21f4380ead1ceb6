import type { ReactNode } from "react";
import { VisibleText } from "../../parts/text.tsx";

export interface ComponentNode {
  type: "mdxJsxFlowElement" | "mdxJsxTextElement";
  name: string | null;
  attributes: readonly (
    | { type: "mdxJsxAttribute"; name: string; value?: string | { value: string } | null }
    | { type: "mdxJsxExpressionAttribute"; value: string }
  )[];
  children: readonly unknown[];
}

/** An MDX component: its name, properties and children. Only its site knows what it renders. */
export function Component({ node, children }: { node: ComponentNode; children: ReactNode }) {
  const given = node.attributes.map(attributeText).join(" ");
  if (node.type === "mdxJsxTextElement") {
    return (
      <span className="rounded-md border border-line px-1" title={given}>
        <span className="font-mono text-[12px] text-quiet">{node.name ?? ""} </span>
        {children}
      </span>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-md border border-line px-4 pt-1 pb-3">
      <p className="font-mono text-[12px] wrap-anywhere text-quiet">
        <b>{node.name ?? "group"}</b> <VisibleText text={given} />
      </p>
      {children}
    </div>
  );
}

function attributeText(attribute: ComponentNode["attributes"][number]): string {
  if (attribute.type === "mdxJsxExpressionAttribute") return `{${attribute.value}}`;
  const { name, value } = attribute;
  if (value === null || value === undefined) return name;
  return typeof value === "string" ? `${name}="${value}"` : `${name}={${value.value}}`;
}

/** The source text. */
export function Source({ text, label }: { text: string; label: string | null }) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-md bg-hush px-3 py-2 text-[13px]"
    >
      {label && <span className="block text-right font-sans text-[12px] leading-5 text-quiet">{label}</span>}
      <code>
        <VisibleText text={text} />
      </code>
    </pre>
  );
}
