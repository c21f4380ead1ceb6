/** Git's order of paths, that of their bytes: code points, not the code units that JavaScript compares. */
export function comparePaths(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const one = left.charCodeAt(index);
    const other = right.charCodeAt(index);
    if (one !== other) return rank(one) - rank(other);
  }
  return left.length - right.length;
}

/** Surrogates stand for what lies above every other character. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
