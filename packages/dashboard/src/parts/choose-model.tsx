import { Link } from "@tanstack/react-router";

/** Wherever something needs a language model: the way to one. */
export function ChooseModel({ projectId }: { projectId: string }) {
  return (
    <Link to="/projects/$id" params={{ id: projectId }} hash="model" className="underline underline-offset-3">
      Choose a language model
    </Link>
  );
}
