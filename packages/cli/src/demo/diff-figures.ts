export interface DiffFigures {
  linesAdded: number;
  linesRemoved: number;
}

/** The size of a unified diff. Inside a hunk the counts of its head say which lines belong to it. */
export function diffFigures(diff: string): DiffFigures {
  const figures = { linesAdded: 0, linesRemoved: 0 };
  let oldLeft = 0;
  let newLeft = 0;
  for (const line of diff.split("\n")) {
    const isInHunk = oldLeft > 0 || newLeft > 0;
    if (!isInHunk) {
      const [, oldCount = "1", newCount = "1"] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) ?? ["", "0", "0"];
      oldLeft = Number(oldCount);
      newLeft = Number(newCount);
      continue;
    }
    if (line.startsWith("+")) {
      figures.linesAdded += 1;
      newLeft -= 1;
    } else if (line.startsWith("-")) {
      figures.linesRemoved += 1;
      oldLeft -= 1;
    } else if (!line.startsWith("\\")) {
      oldLeft -= 1;
      newLeft -= 1;
    }
  }
  return figures;
}
