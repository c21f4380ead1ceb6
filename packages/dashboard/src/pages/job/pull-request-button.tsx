import type { JobRun } from "@emend/contract";
import { Link } from "@tanstack/react-router";
import { buttonLook } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";

/** To the pull request, by its state; the local forge's own are pages of this dashboard. */
export function PullRequestButton(props: {
  pullRequest: NonNullable<JobRun["pullRequest"]>;
  projectId: string;
  isLocal: boolean;
  isPrimary: boolean;
}) {
  const { number, state, draft, url } = props.pullRequest;
  const isWaiting = state === "open" && props.isPrimary;
  const className = `order-first sm:order-none ${buttonLook(isWaiting ? "primary" : "ordinary")}`;
  const words = (
    <>
      <Icon name={state === "merged" ? "merged" : state === "closed" ? "cross" : "open"} />
      Pull request #{number}
      <span className="font-normal">· {state === "open" && draft ? "draft" : state}</span>
    </>
  );
  if (!props.isLocal) {
    return (
      <a href={url} rel="noreferrer" className={className}>
        {words}
      </a>
    );
  }
  return (
    <Link
      to="/pulls/$projectId/$number"
      params={{ projectId: props.projectId, number: String(number) }}
      className={className}
    >
      {words}
    </Link>
  );
}
