import { Button } from "../parts/button.tsx";
import { Problem } from "../parts/notice.tsx";

/** In place of a page that threw, or whose code could not be fetched: the rest of the dashboard stays. */
export function PageBroke({ error }: { error: unknown }) {
  return (
    <section className="grid max-w-[640px] grid-cols-[minmax(0,1fr)] justify-items-start gap-4 py-12">
      <title>Broken off · Emend</title>
      <h1>This page broke off</h1>
      <p>
        The server was replaced meanwhile, or cannot be reached, or this is a fault of ours. What you typed is kept.
      </p>
      <Problem error={error} />
      <Button onClick={() => location.reload()}>Load it again</Button>
    </section>
  );
}
