/** The last time of a piece in a build. */
export interface PieceTime<File> {
  file: File;
  /** Number of pieces of the file. */
  count: number;
  seconds: number;
}

/**
 * Returns the time of each file of which a build ran all pieces: their sum.
 *
 * @param times of each piece once
 */
export function joinPieces<File>(times: Iterable<PieceTime<File>>): Map<File, number> {
  const cuts = new Map<string, PieceTime<File>[]>();
  for (const time of times) {
    const key = `${time.count} ${time.file}`;
    const cut = cuts.get(key);
    if (cut) cut.push(time);
    else cuts.set(key, [time]);
  }
  const whole = [...cuts.values()].filter(cut => cut.length === cut[0]!.count);
  return new Map(whole.map(cut => [cut[0]!.file, cut.reduce((sum, { seconds }) => sum + seconds, 0)]));
}
