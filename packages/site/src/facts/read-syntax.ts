import type { Node } from "@vscode/tree-sitter-wasm";
import { type Fact, plainValue, type Signature } from "./fact.ts";

type Found = Omit<Fact, "line" | "text">;
type Visit = (node: Node, container: string, add: (fact: Found, at: Node) => void) => void;

/** What each language's syntax says about options, members and parameters. The names are those of tree-sitter's grammars. */
export const visits: Readonly<Record<string, Visit>> = {
  python: visitPython,
  go: visitGo,
  rust: visitRust,
  typescript: visitScript,
  tsx: visitScript,
  javascript: visitScript,
};

/** The declarations whose members get their name as container. */
const scopes = new Set([
  ...["class_definition", "function_definition"],
  ...["type_spec", "function_declaration", "method_declaration"],
  ...["struct_item", "enum_item", "function_item", "impl_item"],
  ...["class_declaration", "interface_declaration", "type_alias_declaration", "method_definition", "enum_declaration"],
  ...["variable_declarator", "var_spec"],
]);

/** Deeper code is written by programs, and would exhaust the stack. */
const depthMax = 300;

export function readSyntax(root: Node, visit: Visit): Omit<Fact, "text">[] {
  const facts: Omit<Fact, "text">[] = [];
  // Few files say anything about it, and to look around each definition takes most of the time.
  const saysLife = mentionsLife.test(root.text);
  const add = (fact: Found, at: Node) =>
    facts.push({ ...fact, ...(saysLife && lifeOf(at)), line: at.startPosition.row + 1 });
  const walk = (node: Node, container: string, depth: number): void => {
    if (depth > depthMax) return;
    visit(node, container, add);
    const own = scopes.has(node.type)
      ? (node.childForFieldName("name") ?? node.childForFieldName("type"))?.text
      : undefined;
    const inner = own === undefined ? container : container === "" ? own : `${container}.${own}`;
    for (const child of node.namedChildren) if (child !== null) walk(child, inner, depth + 1);
  };
  walk(root, "", 0);
  // `flags.MarkDeprecated("name", …)` is about a definition elsewhere.
  const marked = new Set(facts.flatMap(({ container, name }) => (container === deprecation ? name : [])));
  return facts.flatMap((fact) => {
    if (fact.container === deprecation) return [];
    return marked.has(fact.name) ? { ...fact, deprecated: true } : fact;
  });
}

const deprecation = "deprecated";
const mentionsLife = /deprecated|since|versionadded/i;
const linesAboveMax = 12;
const saysDeprecated =
  /@deprecated|\bDeprecated:|#\[deprecated|@deprecated\b|\bdeprecated["']?\s*[=:(]\s*(?:True|true|["'`{)])/;
const saysSince = /@since\s+v?(\d[\w.]*)|versionadded::\s*v?(\d[\w.]*)|\bsince\s*=\s*"v?(\d[\w.]*)"/;

/** What the comments and attributes above a definition, and its own text, say about its life. */
function lifeOf(node: Node): Pick<Fact, "deprecated" | "since"> {
  // Of a definition that has others inside, only what is above it counts.
  const own = field(node, "body") === null ? textOf(node) : "";
  const about: string[] = own.length <= 600 && own.split("{").length <= 2 ? [own] : [];
  // A decorator or `export` is around the definition, and the comment above it.
  const outer = /decorated|export/.test(node.parent?.type ?? "") ? node.parent : node;
  let above = outer?.previousNamedSibling;
  for (let lines = 0; above && /comment|attribute|decorator/.test(above.type) && lines < linesAboveMax; lines++) {
    about.push(textOf(above));
    above = above.previousNamedSibling;
  }
  const text = about.join("\n");
  const since = saysSince
    .exec(text)
    ?.slice(1)
    .find((version) => version !== undefined);
  return { ...(saysDeprecated.test(text) && { deprecated: true }), ...(since !== undefined && { since }) };
}

const children = (node: Node | null | undefined): Node[] =>
  (node?.namedChildren ?? []).filter((child) => child !== null);
const field = (node: Node, name: string) => node.childForFieldName(name);
/** A definition is short. The text of a whole program, copied for each of its nodes, is not. */
const textOf = (node: Node | null | undefined) => (node && node.endIndex - node.startIndex <= 4_000 ? node.text : "");
const isText = (node: Node) => /string/.test(node.type);
const literal = (node: Node | null | undefined) => (node ? plainValue(textOf(node)) : null);
const withDefault = (value: string | null) => (value === null ? {} : { default: value });

const choicesDepthMax = 8;

/** All strings of a list, a tuple or a union; undefined if there are fewer than two. */
function choicesIn(node: Node | null | undefined): { choices?: readonly string[] } {
  const found: string[] = [];
  const walk = (at: Node, depth: number) => {
    if (depth > choicesDepthMax) return;
    if (isText(at) && at.type !== "string_fragment") {
      const value = literal(at);
      if (value !== null) found.push(value);
    } else for (const child of children(at)) walk(child, depth + 1);
  };
  if (node) walk(node, 0);
  return found.length < 2 ? {} : { choices: [...new Set(found)] };
}

const flagIn = (text: string) => /(?<![\w-])--[a-z][\w-]*/i.exec(text)?.[0];
const kebab = (name: string) => name.replaceAll("_", "-");

function visitPython(node: Node, container: string, add: Parameters<Visit>[2]): void {
  switch (node.type) {
    case "call": {
      const given = children(field(node, "arguments"));
      const flag = given
        .filter(isText)
        .map(({ text }) => flagIn(plainValue(text) ?? ""))
        .find((text) => text !== undefined);
      if (flag === undefined) return;
      const named = new Map(
        given.flatMap((one) =>
          one.type === "keyword_argument" ? [[field(one, "name")?.text, field(one, "value")] as const] : [],
        ),
      );
      // Typer's options begin with their default.
      const isTypers = /(?:Option|Argument)$/.test(textOf(field(node, "function")));
      const first = isTypers && !flagIn(plainValue(textOf(given[0])) ?? "") ? given[0] : null;
      const choices = named.get("choices") ?? (/Choice/.test(named.get("type")?.text ?? "") ? named.get("type") : null);
      const isRequired = named.get("required")?.text === "True" ? { required: true } : {};
      add(
        {
          container: "flags",
          name: flag,
          ...withDefault(literal(named.get("default") ?? first)),
          ...choicesIn(choices),
          ...isRequired,
        },
        node,
      );
      return;
    }
    case "assignment": {
      const left = field(node, "left");
      if (
        left?.type !== "identifier" ||
        (node.parent?.parent?.type === "block" && node.parent.parent.parent?.type !== "class_definition")
      )
        return;
      const right = field(node, "right");
      const made = right?.type === "call" ? madeBy(right) : right;
      const type = field(node, "type")?.text;
      add({ container, name: left.text, ...withDefault(literal(made)), ...(type !== undefined && { type }) }, node);
      return;
    }
    case "default_parameter":
    case "typed_default_parameter": {
      const name = field(node, "name")?.text;
      if (name) add({ container, name, ...withDefault(literal(field(node, "value"))) }, node);
      return;
    }
    case "function_definition": {
      const name = field(node, "name")?.text ?? "";
      // A class is called by its own name.
      const owner = name === "__init__" ? container.split(".") : null;
      const called = owner === null ? name : (owner.at(-1) ?? "");
      if (called === "" || called.startsWith("_")) return;
      const signature = signatureOf(children(field(node, "parameters")), {
        rest: "list_splat_pattern",
        otherNames: "dictionary_splat_pattern",
        isOptional: (one) => one.type.includes("default"),
        byNameAfter: "keyword_separator",
        isQualified: true,
      });
      add({ container: owner === null ? container : owner.slice(0, -1).join("."), name: called, signature }, node);
    }
  }
}

/** How a language's grammar marks parameters. */
interface Marks {
  rest: string;
  otherNames?: string;
  byNameAfter?: string;
  isQualified?: true;
  isOptional?(parameter: Node): boolean;
}

function signatureOf(
  nodes: readonly Node[],
  { rest, otherNames, byNameAfter, isOptional, isQualified }: Marks,
): Signature {
  const parameters: { name: string; required: boolean; isByNameOnly?: boolean }[] = [];
  const signature: Signature = { parameters, ...(isQualified && { isQualified }) };
  let isByNameOnly = false;
  for (const one of nodes) {
    const kinds = [one.type, ...children(one).map(({ type }) => type)];
    if (otherNames !== undefined && kinds.includes(otherNames)) signature.otherNames = true;
    else if (kinds.includes(rest)) signature.rest = isByNameOnly = true;
    else if (one.type === byNameAfter) isByNameOnly = true;
    else if (!/comment|separator|self_parameter/.test(one.type)) {
      const name =
        /^[\w$]+/.exec(textOf(field(one, "name") ?? field(one, "pattern") ?? field(one, "left") ?? one))?.[0] ?? "";
      if (!/^(?:self|cls|this)$/.test(name))
        parameters.push({ name, required: isOptional?.(one) !== true, ...(isByNameOnly && { isByNameOnly }) });
    }
  }
  return signature;
}

/** `Field(3)`, `field(default=3)`, `Integer(3).tag(…)`: the value that a member starts with. */
function madeBy(call: Node): Node | null {
  const inner = field(call, "function");
  const chained = inner?.type === "attribute" ? field(inner, "object") : null;
  if (chained?.type === "call") return madeBy(chained);
  const given = children(field(call, "arguments"));
  const named = given.find(
    (one) => one.type === "keyword_argument" && /^default(?:_value)?$/.test(field(one, "name")?.text ?? ""),
  );
  return (named && field(named, "value")) ?? (given[0]?.type === "keyword_argument" ? null : (given[0] ?? null));
}

const flagMethod = /^(?:String|Bool|Int|Uint|Float|Duration|Count)\w*?(?:Var)?(P?)$/;

function visitGo(node: Node, container: string, add: Parameters<Visit>[2]): void {
  switch (node.type) {
    case "field_declaration": {
      const tag = field(node, "tag")?.text ?? "";
      const name = tagName(tag);
      if (name === null) return;
      const set = /\bdefault:"([^"]*)"/.exec(tag)?.[1];
      add({ container, name, ...withDefault(set ?? null), ...typeOf(field(node, "type")) }, node);
      return;
    }
    case "function_declaration": {
      const name = field(node, "name")?.text ?? "";
      const listed = children(field(node, "parameters")).flatMap((one) => {
        // `a, b int` is two.
        const names = children(one).filter(({ type }) => type === "identifier");
        return names.length > 1 ? names : [one];
      });
      if (/^[A-Z]/.test(name))
        add(
          {
            container,
            name,
            signature: signatureOf(listed, { rest: "variadic_parameter_declaration", isQualified: true }),
          },
          node,
        );
      return;
    }
    case "call_expression": {
      const method = field(node, "function");
      const called = method?.childForFieldName("field")?.text;
      if (called === "MarkDeprecated") {
        const flag = literal(children(field(node, "arguments"))[0]);
        if (flag !== null) add({ container: deprecation, name: `--${flag}` }, node);
        return;
      }
      const isShort = flagMethod.exec(called ?? "")?.[1];
      if (isShort === undefined) return;
      const given = children(field(node, "arguments"));
      const at = given.findIndex(isText);
      const name = at < 0 || at > 1 ? null : literal(given[at]);
      if (name === null || !/^[a-z][\w.-]+$/.test(name)) return;
      add(
        { container: "flags", name: `--${name}`, ...withDefault(literal(given[at + (isShort === "P" ? 2 : 1)])) },
        node,
      );
      return;
    }
    case "composite_literal": {
      const type = field(node, "type")?.text ?? "";
      const parts = new Map(
        children(field(node, "body")).flatMap((one) => {
          const [key, value] = children(one);
          return one.type === "keyed_element" && key && value ? [[key.text, value] as const] : [];
        }),
      );
      const name = literal(parts.get("Name"));
      if (/Flag\b/.test(type) && name !== null) {
        const choices = choicesIn(parts.get("Values") ?? parts.get("Options"));
        const value = literal(parts.get("Default") ?? parts.get("Value") ?? parts.get("DefValue"));
        add({ container: "flags", name: `--${name}`, ...withDefault(value), ...choices }, node);
        return;
      }
      // The default of a type whose members have tags: `DefaultArguments = Arguments{Timeout: 10 * time.Second}`.
      if (!/default/i.test(container)) return;
      const names = tagsIn(node.tree.rootNode, type);
      for (const [key, value] of parts) {
        const tagged = names.get(key);
        if (tagged !== undefined) add({ container: type, name: tagged, ...withDefault(literal(value)) }, value);
      }
      return;
    }
    case "const_spec":
    case "var_spec": {
      const [name, value] = [field(node, "name")?.text, children(field(node, "value"))[0]];
      if (name !== undefined && container === "") add({ container: "", name, ...withDefault(literal(value)) }, node);
    }
  }
}

function tagName(tag: string): string | null {
  const [, name] = /\b(?:json|ya?ml|toml|mapstructure|env|koanf|hcl|alloy|river|name):"([^",]+)/.exec(tag) ?? [];
  return name === undefined || name === "-" ? null : name;
}

function tagsIn(root: Node, type: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const spec of root.descendantsOfType("type_spec")) {
    if (!spec || field(spec, "name")?.text !== type) continue;
    for (const member of spec.descendantsOfType("field_declaration")) {
      const name = member && tagName(field(member, "tag")?.text ?? "");
      if (member && name) names.set(field(member, "name")?.text ?? "", name);
    }
  }
  return names;
}

const typeOf = (node: Node | null) => (node ? { type: node.text.replaceAll(/\s+/g, " ") } : {});

function visitRust(node: Node, container: string, add: Parameters<Visit>[2]): void {
  switch (node.type) {
    case "field_declaration": {
      const own = field(node, "name")?.text;
      if (own === undefined) return;
      let tags = "";
      for (
        let before = node.previousNamedSibling;
        before && /attribute|comment/.test(before.type);
        before = before.previousNamedSibling
      )
        if (before.type === "attribute_item") tags += before.text;
      const long = /\blong\b(?:\s*=\s*"([^"]+)")?/.exec(tags);
      const renamed = /\brename\s*=\s*"([^"]+)"/.exec(tags)?.[1];
      const set = /\bdefault_value(?:_t)?\s*=\s*("[^"]*"|[\w.-]+)/.exec(tags)?.[1];
      const listed = /\b(?:value_parser|possible_values)\s*=\s*\[([^\]]*)\]/.exec(tags)?.[1];
      const choices = [...(listed ?? "").matchAll(/"([^"]+)"/g)].map(([, choice]) => choice as string);
      add(
        {
          container: long ? "flags" : container,
          name: long ? `--${long[1] ?? kebab(own)}` : (renamed ?? own),
          ...withDefault(set === undefined ? null : plainValue(set)),
          ...(choices.length > 1 && { choices }),
          ...typeOf(field(node, "type")),
        },
        node,
      );
      return;
    }
    case "call_expression": {
      const method = field(node, "function");
      if (method?.childForFieldName("field")?.text !== "long") return;
      const name = literal(children(field(node, "arguments"))[0]);
      if (name === null) return;
      let chain = node;
      while (chain.parent?.type === "field_expression" && chain.parent.parent?.type === "call_expression")
        chain = chain.parent.parent;
      const set = /\.default_value\(\s*("[^"]*")/.exec(textOf(chain))?.[1];
      add({ container: "flags", name: `--${name}`, ...withDefault(set === undefined ? null : plainValue(set)) }, node);
      return;
    }
    case "function_item": {
      const name = field(node, "name")?.text ?? "";
      const isPublic = children(node).some(({ type }) => type === "visibility_modifier");
      const signature = signatureOf(children(field(node, "parameters")), { rest: "variadic_parameter" });
      if (isPublic) add({ container, name, signature }, node);
      return;
    }
    case "enum_variant":
      add({ container, name: field(node, "name")?.text ?? "" }, node);
      return;
    case "const_item":
      add({ container, name: field(node, "name")?.text ?? "", ...withDefault(literal(field(node, "value"))) }, node);
  }
}

function visitScript(node: Node, container: string, add: Parameters<Visit>[2]): void {
  switch (node.type) {
    case "property_signature": {
      const name = field(node, "name")?.text;
      if (name === undefined) return;
      const comment = node.previousNamedSibling?.type === "comment" ? node.previousNamedSibling.text : "";
      const set = /@default(?:Value)?\s+[`'"]?([^\s`'"*]+)/.exec(comment)?.[1];
      const type = field(node, "type");
      const shown = type ? { type: textOf(type).replace(/^:\s*/, "") } : {};
      const isRequired = !/\?\s*$/.test(textOf(node).split(":", 1)[0] ?? "");
      add(
        {
          container,
          name,
          ...withDefault(set ?? null),
          ...shown,
          ...(textOf(type).includes("|") && choicesIn(type)),
          required: isRequired,
        },
        node,
      );
      return;
    }
    case "call_expression": {
      const given = children(field(node, "arguments"));
      const text = given[0] && isText(given[0]) ? plainValue(given[0].text) : null;
      const flag = text === null ? undefined : flagIn(text);
      if (flag !== undefined) add({ container: "flags", name: flag, ...withDefault(literal(given[2])) }, node);
      else if (text !== null && given[1]?.type === "object")
        addDescribed(text, given[1], `${field(node, "function")?.text}()`, node, add);
      return;
    }
    case "pair": {
      const [name, value] = [field(node, "key")?.text.replaceAll(/["']/g, ""), field(node, "value")];
      if (name === undefined || value === null) return;
      const isFlag = flagIn(name) === name;
      if (value.type === "object") {
        addDescribed(name, value, isFlag ? "flags" : container, node, add);
        return;
      }
      // A table of flags: `{ flag: "--depth", default: 3 }`.
      const listed = isText(value) ? plainValue(value.text) : null;
      if (isFlag || (listed !== null && flagIn(listed) === listed)) {
        const own = isFlag ? name : (listed as string);
        const given = isFlag ? null : children(node.parent).find((one) => field(one, "key")?.text === "default");
        add({ container: "flags", name: own, ...withDefault(literal(given && field(given, "value"))) }, node);
        return;
      }
      const chained =
        value.type === "call_expression" ? /\.default\(\s*([^()]*?)\s*\)/.exec(textOf(value))?.[1] : undefined;
      const isEnum = value.type === "call_expression" && /\benum\(/.test(textOf(value));
      const set = chained === undefined ? literal(value) : plainValue(chained);
      add({ container, name, ...withDefault(set), ...(isEnum && choicesIn(value)) }, node);
      return;
    }
    case "public_field_definition":
    case "field_definition":
    case "required_parameter":
    case "assignment_pattern":
    case "variable_declarator": {
      const name = (field(node, "name") ?? field(node, "property") ?? field(node, "pattern") ?? field(node, "left"))
        ?.text;
      const value = field(node, "value") ?? field(node, "right");
      const isLocal = node.type === "variable_declarator" && container !== "";
      if (name !== undefined && /^\w+$/.test(name) && value && !isLocal)
        add({ container, name, ...withDefault(literal(value)), ...scriptSignature(value) }, node);
      return;
    }
    case "function_declaration":
    case "method_definition": {
      const name = field(node, "name")?.text ?? "";
      if (/^\w+$/.test(name) && name !== "constructor") add({ container, name, ...scriptSignature(node) }, node);
      return;
    }
    case "type_alias_declaration": {
      const name = field(node, "name")?.text;
      const listed = choicesIn(field(node, "value"));
      if (name !== undefined && field(node, "value")?.type === "union_type") add({ container, name, ...listed }, node);
    }
  }
}

function scriptSignature(node: Node): Pick<Fact, "signature"> {
  const parameters = field(node, "parameters");
  if (parameters === null) return {};
  const isOptional = (one: Node) =>
    /optional|assignment/.test(one.type) || children(one).length > 2 || field(one, "value") !== null;
  return { signature: signatureOf(children(parameters), { rest: "rest_pattern", isOptional }) };
}

const describing = /^(?:default|type|choices|describe|description|alias|enum)$/;

/** `retries: { default: 3, type: "number" }`, as yargs, convict, JSON Schema and many tables of options have it. */
function addDescribed(name: string, object: Node, container: string, at: Node, add: Parameters<Visit>[2]): void {
  const parts = new Map(
    children(object).flatMap((one) => {
      const key = one.type === "pair" ? field(one, "key")?.text.replaceAll(/["']/g, "") : undefined;
      return key === undefined ? [] : [[key, field(one, "value")] as const];
    }),
  );
  if (![...parts.keys()].some((key) => describing.test(key))) return;
  const choices = choicesIn(
    parts.get("choices") ?? parts.get("enum") ?? (parts.get("type")?.type === "array" ? parts.get("type") : null),
  );
  const type = parts.get("type");
  add(
    { container, name, ...withDefault(literal(parts.get("default"))), ...choices, ...(type && { type: textOf(type) }) },
    at,
  );
}
