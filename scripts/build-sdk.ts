// Compiles the publishable `@emend/sdk`: `npm run build:sdk` writes packages/sdk/dist, ready for `npm pack`. One file
// as an ES module and for CommonJS, with self-contained types: the contract's schemas become plain interfaces with
// their descriptions.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as contract from "@emend/contract";
import { rolldown } from "rolldown";
import ts from "typescript";

const root = dirname(import.meta.dirname);
const source = join(root, "packages/sdk");

export async function buildSdk(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const bundle = await rolldown({ input: join(source, "src/index.ts"), platform: "neutral" });
  await bundle.write({ file: join(outDir, "index.js"), format: "esm" });
  await bundle.write({ file: join(outDir, "index.cjs"), format: "cjs" });
  await bundle.close();
  await writeTypes(outDir);
  for (const [from, to] of [
    [join(root, "LICENSE"), "LICENSE"],
    [join(source, "README.md"), "README.md"],
  ] as const) {
    await cp(from, join(outDir, to));
  }
  await writeFile(join(outDir, "package.json"), `${JSON.stringify(await manifestOf(), null, 2)}\n`);
}

async function writeTypes(outDir: string): Promise<void> {
  const program = ts.createProgram([join(source, "src/index.ts")], {
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.asynciterable.d.ts"],
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: true,
    rootDir: join(root, "packages"),
    outDir,
  });
  const texts = new Map<string, string>();
  program.emit(undefined, (path, text) => {
    const ofSdk = /\/sdk\/src\/([\w-]+\.d\.ts)$/.exec(path)?.[1];
    if (ofSdk)
      texts.set(
        ofSdk,
        text.replaceAll('"@emend/contract"', '"./contract.js"').replaceAll(/(\.\/[\w-]+)\.ts"/g, '$1.js"'),
      );
  });
  texts.set("contract.d.ts", contractShapes(program));
  for (const [name, text] of texts) {
    await writeFile(join(outDir, name), text);
    // The compiler needs separate types for `require`.
    await writeFile(join(outDir, name.replace(/ts$/, "cts")), text.replaceAll(/(from "\.\/[\w-]+)\.js"/g, '$1.cjs"'));
  }
}

/** All types of the contract that the client uses, without the schema library. */
function contractShapes(program: ts.Program): string {
  const checker = program.getTypeChecker();
  const printer = ts.createPrinter();
  const { InTypeAlias, NoTruncation, MultilineObjectLiterals } = ts.NodeBuilderFlags;
  const shapes = new Map<string, string>();
  for (const file of program.getSourceFiles().filter((one) => one.fileName.startsWith(join(source, "src")))) {
    for (const name of contractNames(file)) {
      const schema = (contract as unknown as Record<string, Schema | undefined>)[name.text];
      const type = checker.getTypeAtLocation(name);
      const node = checker.typeToTypeNode(type, undefined, InTypeAlias | NoTruncation | MultilineObjectLiterals);
      if (!node) throw new Error(`the contract's ${name.text} cannot be written out`);
      const shape = schema?.$id ? shapeOf(schema, "") : printer.printNode(ts.EmitHint.Unspecified, node, file);
      shapes.set(name.text, `${comment(schema, "")}export type ${name.text} = ${shape};\n`);
    }
  }
  return [...shapes.values()].join("\n");
}

interface Schema {
  $id?: string;
  $ref?: string;
  description?: string;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
}

/** The TypeScript for a JSON schema, for the forms that the contract uses. */
function shapeOf(schema: Schema, indent: string): string {
  if (schema.$ref) return schema.$ref.replace("#", "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((one) => shapeOf(one, indent)).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `Array<${shapeOf(schema.items ?? {}, indent)}>`;
    case "object":
      return schema.properties
        ? objectShape(schema.properties, schema.required ?? [], indent)
        : "Record<string, unknown>";
    case undefined:
      return "unknown";
    default:
      throw new Error(`no type is known for ${JSON.stringify(schema)}`);
  }
}

function objectShape(properties: Record<string, Schema>, required: readonly string[], indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    const shape = shapeOf(schema, inner);
    // As in the source: optional fields may be absent, but not undefined.
    return `${comment(schema, inner)}${inner}${key}${required.includes(name) ? "" : "?"}: ${shape};\n`;
  });
  return lines.length === 0 ? "Record<string, never>" : `{\n${lines.join("")}${indent}}`;
}

function comment(schema: Schema | undefined, indent: string): string {
  return schema?.description ? `${indent}/** ${schema.description.replaceAll("*/", "* /")} */\n` : "";
}

function contractNames(file: ts.SourceFile): ts.Identifier[] {
  return file.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const from = statement.moduleSpecifier;
    if (!from || !ts.isStringLiteral(from) || from.text !== "@emend/contract") return [];
    const clause = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : statement.exportClause;
    if (!clause || (!ts.isNamedImports(clause) && !ts.isNamedExports(clause))) return [];
    return clause.elements.map(({ name }) => name).filter(ts.isIdentifier);
  });
}

async function manifestOf(): Promise<object> {
  const { name, version, description, license } = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
  return {
    name,
    version,
    description,
    license,
    type: "module",
    sideEffects: false,
    main: "./index.cjs",
    types: "./index.d.cts",
    exports: {
      ".": {
        import: { types: "./index.d.ts", default: "./index.js" },
        require: { types: "./index.d.cts", default: "./index.cjs" },
      },
    },
    engines: { node: ">=20" },
  };
}

if (import.meta.main) {
  const outDir = join(source, "dist");
  await buildSdk(outDir);
  console.log(`@emend/sdk is in ${outDir}: npm install ${outDir}`);
}
