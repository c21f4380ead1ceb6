import { useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";
import { appPath } from "../base-path.ts";
import { rowAttribute } from "../layout/use-shortcuts.ts";

/** A row that links somewhere. Lists have thousands: unlike the router's link it subscribes to nothing. */
export function RowLink({ path, className, children }: { path: string; className: string; children: ReactNode }) {
  const router = useRouter();
  const href = `${appPath}${path}`;
  function open(event: MouseEvent) {
    // New tabs and windows are left to the browser.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    router.history.push(href);
  }
  return (
    <a href={href} onClick={open} {...rowAttribute} className={className}>
      {children}
    </a>
  );
}
