import { type Static, Type } from "typebox";
import { CreateJobBody } from "./create-job.ts";

/** A follow-up for a finished job. Unknown fields are ignored. */
export const MessageJobBody = Type.Object(
  { prompt: CreateJobBody.properties.prompt },
  { $id: "MessageJobBody", description: "Unknown fields are ignored." },
);
export type MessageJobBody = Static<typeof MessageJobBody>;
