import { type ReactNode, useState } from "react";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { VisibleText } from "../../parts/text.tsx";
import type { ComponentNode } from "./component.tsx";

export interface ContainerNode {
  type: "containerDirective";
  name: string;
  attributes?: Readonly<Record<string, string | null | undefined>> | null;
  children: readonly unknown[];
}

/** What most docs themes have under these names, however they are written. */
export interface KnownPart {
  look: Look;
  name: string;
  given: Readonly<Record<string, string>>;
  /** A title with markup. */
  label: readonly unknown[] | null;
  children: readonly unknown[];
}

type Look = "callout" | "tabs" | "tab" | "cards" | "card" | "steps" | "step" | "details" | "group";
const looks: readonly [Look, RegExp][] = [
  [
    "callout",
    /^(?:note|info|tip|hint|warning|danger|caution|attention|important|success|check|error|failure|bug|abstract|summary|question|example|quote|seealso|todo|aside|callout|admonition|banner)$/,
  ],
  ["tabs", /^(?:tabs|codegroup|codetabs|codeblocktabs|tabset|tabpane)$/],
  ["tab", /^(?:tab|tabitem|tabs\.tab|codeblocktab)$/],
  ["cards", /^(?:cardgroup|cardgrid|cards|columns|grid)$/],
  ["card", /^(?:card|linkcard|cards\.card|griditemcard)$/],
  ["steps", /^steps$/],
  ["step", /^step$/],
  ["details", /^(?:accordion|expandable|details|collapse|dropdown)$/],
  ["group", /^(?:accordiongroup|accordions|frame|tiles)$/],
];

/** Null if only the page's site knows what it looks like. */
export function knownPart(node: ComponentNode | ContainerNode): KnownPart | null {
  const name = (node.name ?? "").toLowerCase().replaceAll("-", "");
  const look = looks.find(([, names]) => names.test(name))?.[0];
  if (look === undefined) return null;
  if (node.type === "containerDirective") {
    const [first, ...rest] = node.children as readonly { data?: { directiveLabel?: boolean }; children?: unknown[] }[];
    const isLabel = first?.data?.directiveLabel === true;
    return {
      look,
      name,
      given: {},
      label: isLabel ? (first?.children ?? []) : null,
      children: isLabel ? rest : node.children,
    };
  }
  const given: Record<string, string> = {};
  for (const attribute of node.attributes)
    if (attribute.type === "mdxJsxAttribute")
      given[attribute.name] =
        typeof attribute.value === "object" ? (attribute.value?.value ?? "") : (attribute.value ?? "");
  return { look, name, given, label: null, children: node.children };
}

type Draw = (nodes: readonly unknown[]) => ReactNode;

/** As the readers of its theme know it, in the colors of this page. */
export function KnownComponent({ part, draw }: { part: KnownPart; draw: Draw }) {
  const title = part.label ? draw(part.label) : (part.given.title ?? part.given.label ?? null);
  switch (part.look) {
    case "callout":
      return (
        <Callout kind={part.given.type ?? part.given.intent ?? part.given.kind ?? part.name} title={title}>
          {draw(part.children)}
        </Callout>
      );
    case "cards":
      return (
        <div className="grid grid-cols-[repeat(auto-fit,minmax(min(220px,100%),1fr))] gap-3">{draw(part.children)}</div>
      );
    case "card":
      return (
        <div className={`${box} grid content-start gap-1`}>
          {title && <p className="font-semibold">{title}</p>}
          {part.given.description && <p>{part.given.description}</p>}
          {draw(part.children)}
          {part.given.href && (
            <p className="font-mono text-[12px] wrap-anywhere text-quiet">
              <VisibleText text={part.given.href} />
            </p>
          )}
        </div>
      );
    case "steps":
      return <div className="grid gap-4 border-l-2 border-line pl-5 [counter-reset:step]">{draw(part.children)}</div>;
    case "step":
      return (
        <div className="relative grid gap-2 [counter-increment:step] before:absolute before:-left-8 before:grid before:size-6 before:place-items-center before:rounded-full before:border before:border-line before:bg-sheet before:font-sans before:text-[12px] before:content-[counter(step)]">
          {title && <p className="font-semibold">{title}</p>}
          {draw(part.children)}
        </div>
      );
    case "details":
      return (
        // Open: what is folded is not reviewed.
        <details open className={box}>
          <summary className="cursor-pointer font-semibold">{title ?? "Details"}</summary>
          <div className="grid gap-3 pt-2">{draw(part.children)}</div>
        </details>
      );
    case "tab":
      return <TabbedView tabs={[{ words: title ?? "Tab", content: draw(part.children), isChanged: false }]} />;
    default:
      return <div className="grid gap-3">{draw(part.children)}</div>;
  }
}

const box = "min-w-0 rounded-md border border-line bg-sheet px-4 py-3";

const tones = {
  good: { look: "border-good text-good", icon: "check" },
  warn: { look: "border-warn text-warn", icon: "warning" },
  bad: { look: "border-bad text-bad", icon: "warning" },
  plain: { look: "border-quiet text-quiet", icon: "info" },
} as const satisfies Record<string, { look: string; icon: IconName }>;

function toneOf(kind: string): keyof typeof tones {
  if (/^(?:tip|hint|success|check|idea|good)$/.test(kind)) return "good";
  if (/^(?:warning|warn|caution|attention|important)$/.test(kind)) return "warn";
  return /^(?:danger|error|failure|bug|bad)$/.test(kind) ? "bad" : "plain";
}

export function Callout({ kind, title, children }: { kind: string; title: ReactNode; children: ReactNode }) {
  const { look, icon } = tones[toneOf(kind.toLowerCase())];
  return (
    <aside className={`min-w-0 rounded-md border-l-4 bg-hush px-4 py-3 ${look}`}>
      <p className="flex items-center gap-2 font-sans text-[14px] font-semibold">
        <Icon name={icon} />
        <span>{title ?? kind.charAt(0).toUpperCase() + kind.slice(1)}</span>
      </p>
      <div className="grid gap-3 text-ink">{children}</div>
    </aside>
  );
}

export interface TabView {
  words: ReactNode;
  content: ReactNode;
  isChanged: boolean;
}

/** Begins with the first tab that has a change, and marks all that have. */
export function TabbedView({ tabs }: { tabs: readonly TabView[] }) {
  const [chosen, choose] = useState(() =>
    Math.max(
      0,
      tabs.findIndex(({ isChanged }) => isChanged),
    ),
  );
  return (
    <div className={`${box} grid grid-cols-[minmax(0,1fr)] gap-3 pt-0`}>
      <div className="-mx-4 flex gap-4 overflow-x-auto border-b border-line px-4 font-sans text-[14px]">
        {tabs.map(({ words, isChanged }, index) => (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: the tabs of a parsed page never move
            key={index}
            type="button"
            aria-pressed={index === chosen}
            onClick={() => choose(index)}
            className={`border-b-2 py-2 whitespace-nowrap ${index === chosen ? "border-ink font-semibold" : "border-transparent text-quiet hover:text-ink"}`}
          >
            {words}
            {isChanged && <span className="text-quiet"> (changed)</span>}
          </button>
        ))}
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">{tabs[chosen]?.content}</div>
    </div>
  );
}

/** The names of tabs that stand in a property of what is around them: `items={["npm", "pnpm"]}`. */
export function listedNames(items: string | undefined): readonly string[] {
  return [...(items ?? "").matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, double, single]) => double ?? single ?? "");
}
