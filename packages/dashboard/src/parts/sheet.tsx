import type { ReactNode } from "react";

/** A page's head: what it is, and what can be done here. */
export function Head({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-3 pt-8 pb-5">
      <h1 className="min-w-0">{title}</h1>
      {children && <div className="flex max-w-full flex-wrap gap-2">{children}</div>}
    </header>
  );
}

export function Sheet({ className = "", ...rest }: { className?: string; children: ReactNode }) {
  return <div className={`rounded-md border border-line bg-sheet ${className}`} {...rest} />;
}
