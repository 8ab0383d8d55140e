/**
 * Finds which of the files that may make a test file fail are needed for that, by halving them: at most 2 + 2 log2(n) calls of `fails` for a file
 * among the first n candidates.
 *
 * @param candidates lists of files, the likely ones first: of several that make it fail, the first is halved
 * @param fails runs these files and the test file in one process; tells whether that one failed
 * @returns no file: it fails alone; one: it fails together with that file; several: with these together, and with neither half of them; null: it did
 * not fail
 */
export async function bisect<File>(
  candidates: readonly (readonly File[])[],
  fails: (files: readonly File[]) => Promise<boolean>,
): Promise<readonly File[] | null> {
  if (await fails([])) return [];
  for (const files of candidates) if (await fails(files)) return halve(files, fails);
  return null;
}

async function halve<File>(files: readonly File[], fails: (files: readonly File[]) => Promise<boolean>): Promise<readonly File[]> {
  if (files.length === 1) return files;
  // The first half costs one call and the second one two: so the first is the longer one.
  const middle = Math.ceil(files.length / 2);
  for (const half of [files.slice(0, middle), files.slice(middle)]) if (await fails(half)) return halve(half, fails);
  return files;
}
