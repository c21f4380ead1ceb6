import { Button } from "../parts/button.tsx";
import { Problem } from "../parts/notice.tsx";

/** In place of a page that threw, or whose code could not be fetched: the rest of the dashboard stays. */
export function PageBroke({ error }: { error: unknown }) {
  return (
    <section className="grid max-w-[640px] grid-cols-[minmax(0,1fr)] justify-items-start gap-4 py-12">
      <title>Something went wrong · Emend</title>
      <h1>Something went wrong on this page</h1>
      <p>
        The server may have been updated or be unreachable. Your text is saved. If reloading does not help, this is a
        bug in Emend.
      </p>
      <Problem error={error} />
      <Button onClick={() => location.reload()}>Reload</Button>
    </section>
  );
}
