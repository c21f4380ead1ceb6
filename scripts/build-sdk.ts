// Compiles the publishable `@emend/sdk`: `npm run build:sdk` leaves it in packages/sdk/dist, ready for `npm pack`. One
// file of code, and types that stand alone: the contract's schemas are written out as the plain shapes that they mean.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import ts from "typescript";

const root = dirname(import.meta.dirname);
const source = join(root, "packages/sdk");

export async function buildSdk(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const bundle = await rolldown({ input: join(source, "src/index.ts"), platform: "neutral" });
  await bundle.write({ file: join(outDir, "index.js"), format: "esm" });
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
  for (const [name, text] of texts) await writeFile(join(outDir, name), text);
}

/** Every type of the contract that the client names, without the schema library that it is derived with. */
function contractShapes(program: ts.Program): string {
  const checker = program.getTypeChecker();
  const printer = ts.createPrinter();
  const { InTypeAlias, NoTruncation, MultilineObjectLiterals } = ts.NodeBuilderFlags;
  const shapes = new Map<string, string>();
  for (const file of program.getSourceFiles().filter((one) => one.fileName.startsWith(join(source, "src")))) {
    for (const name of contractNames(file)) {
      const type = checker.getTypeAtLocation(name);
      const node = checker.typeToTypeNode(type, undefined, InTypeAlias | NoTruncation | MultilineObjectLiterals);
      if (!node) throw new Error(`the contract's ${name.text} cannot be written out`);
      const shape = printer.printNode(ts.EmitHint.Unspecified, node, file);
      shapes.set(name.text, `export type ${name.text} = ${shape};\n`);
    }
  }
  return [...shapes.values()].join("\n");
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
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
    engines: { node: ">=20" },
  };
}

if (import.meta.main) {
  const outDir = join(source, "dist");
  await buildSdk(outDir);
  console.log(`@emend/sdk is in ${outDir}: npm install ${outDir}`);
}
