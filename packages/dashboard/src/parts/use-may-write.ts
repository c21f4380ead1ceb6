import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../api/queries.ts";

/** Viewers do not see actions that the server would refuse. */
export function useMayWrite(): boolean {
  return useQuery(sessionQuery).data?.role !== "viewer";
}
