import { Type } from "typebox";

const projectId = Type.String({ description: "The project identifier." });

export const ProjectParams = Type.Object({ projectId });
export const JobParams = Type.Object({
  projectId,
  id: Type.String({ description: "The unique identifier of the agent job." }),
});

/** Every job operation is tagged and asks for a key. */
export const jobOperation = { tags: ["Agent jobs"], security: [{ adminKey: [] }] };
