import { Link } from "@tanstack/react-router";
import { VisibleText } from "./text.tsx";
import { useMayWrite } from "./use-may-write.ts";

/** Files that the server shows as pages. */
const pageForm = /\.(?:mdx?|markdown|mdown|rst|adoc|txt|html?)$/i;

/** A finding's place: opens the page at its line, in the editor for those who may write. */
export function PagePlace({ projectId, path, line }: { projectId: string; path: string; line: number }) {
  const mayWrite = useMayWrite();
  const words = <VisibleText text={`${path}:${line}`} />;
  if (!pageForm.test(path)) return words;
  return (
    <Link
      to="/health/page"
      search={{ project: projectId, path, line, ...(mayWrite && { edit: true }) }}
      className="underline underline-offset-3"
    >
      {words}
    </Link>
  );
}
