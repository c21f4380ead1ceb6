// remark-validate-links over a folder, in a process of its own: `remark.ts FOLDER`.
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkValidateLinks from "remark-validate-links";
import { unified } from "unified";
import { engine } from "unified-engine";

const [folder = "."] = process.argv.slice(2);
const startedAt = performance.now();
const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkValidateLinks, { repository: false })
  .use(compileToNothing as never);
/** Those with something to say about. */
const pages: string[] = [];
const { promise, resolve, reject } = Promise.withResolvers<void>();
engine(
  {
    // The engine's type knows only processors without plugins.
    processor: processor as never,
    files: [folder],
    extensions: ["md"],
    output: false,
    out: false,
    reporter: () => "",
  },
  (error, _status, context) => {
    for (const { path, messages } of context?.files ?? []) if (messages.length > 0) pages.push(path);
    if (error) reject(error);
    else resolve();
  },
);
await promise;
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ ms: performance.now() - startedAt, cpuMs: (user + system) / 1000, pages }));

/** Nothing is to be written: only the trees are needed. */
function compileToNothing(this: { compiler?: () => string }): void {
  this.compiler = () => "";
}
