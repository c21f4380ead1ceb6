import { type QueryClient, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { CopyButton } from "./button.tsx";
import { ResultDialog } from "./dialog.tsx";

const queryKey = ["recovery-codes"];

/** Shows them over the page, and over those that follow, until the person has read them. Null: nothing to show. */
export function showRecoveryCodes(queries: QueryClient, codes: readonly string[] | null): void {
  queries.setQueryData(queryKey, codes);
}

export function RecoveryCodes() {
  const queries = useQueryClient();
  const { data: codes } = useQuery<readonly string[] | null>({ queryKey, queryFn: skipToken });
  if (!codes) return null;
  return (
    <ResultDialog title="Save your recovery codes" onClose={() => showRecoveryCodes(queries, null)}>
      <p>
        Each code logs you in once if you lose your phone. Keep them where you keep your passwords. Emend does not show
        them again.
      </p>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(13rem,1fr))] gap-x-4 gap-y-1 rounded-md bg-hush px-3 py-2">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div>
        <CopyButton text={codes.join("\n")} label="Copy codes" />
      </div>
    </ResultDialog>
  );
}
