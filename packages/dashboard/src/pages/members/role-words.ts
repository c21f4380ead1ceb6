import type { MemberRole } from "@emend/contract";

export const roleWords: Readonly<Record<MemberRole, string>> = {
  owner: "who may do everything",
  maintainer: "manages projects, keys and jobs",
  viewer: "who may look and change nothing",
};

export const roleOptions = [
  { value: "viewer", words: "Viewer: looks" },
  { value: "maintainer", words: "Maintainer: projects, keys, jobs" },
  { value: "owner", words: "Owner: everything" },
] as const;
