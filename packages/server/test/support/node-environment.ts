/**
 * The minimal environment for a Node process that a test starts: PATH, and the compile cache, because a short process
 * spends most of its time on compiling.
 */
export const nodeEnvironment: { PATH: string; NODE_COMPILE_CACHE?: string } = {
  PATH: process.env.PATH ?? "",
  ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};
