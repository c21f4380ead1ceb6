/**
 * What a Node that a test starts gets of this process's environment where it gets little: its programs, and the folder of
 * compiled modules, since most of the time of a short process goes into compiling.
 */
export const nodeEnvironment: { PATH: string; NODE_COMPILE_CACHE?: string } = {
  PATH: process.env.PATH ?? "",
  ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};
