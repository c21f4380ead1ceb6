import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../api/queries.ts";

/** Viewers are not shown what the server would refuse them. */
export function useMayWrite(): boolean {
  return useQuery(sessionQuery).data?.role !== "viewer";
}
