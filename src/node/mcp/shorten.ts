/** Sizes of an answer, in the order of the attempts: entries of each list, and characters of each text. */
const ATTEMPTS = [
  [100, 1000],
  [50, 500],
  [20, 500],
  [10, 500],
  [5, 300],
  [2, 200],
  [1, 100],
] as const;

/** Lists that were cut: by their place, how many entries are kept of the longest one. */
type Cuts = Map<string, { kept: number; of: number }>;

/**
 * An answer as JSON for a language model, of at most `maxBytes`: seconds to milliseconds, and the first entries of lists. What was left out
 * is said in `cut`, with how to ask for less. Throws when it cannot be made short enough.
 *
 * @param narrow how to ask for less
 */
export function shorten(answer: object, maxBytes: number, narrow: string): string {
  for (const [entries, characters] of ATTEMPTS) {
    const cuts: Cuts = new Map();
    const kept = shortened(answer, entries, characters, '', cuts) as object;
    const lists = Array.from(cuts, ([place, cut]) => `${place}: the first ${cut.kept} of ${place.includes('[]') ? 'up to ' : ''}${cut.of}`);
    const json = JSON.stringify({ ...kept, ...(lists.length > 0 && { cut: [...lists, narrow] }) });
    if (Buffer.byteLength(json) <= maxBytes) return json;
  }
  throw new Error(`the answer has more than ${maxBytes} bytes: ${narrow}`);
}

function shortened(value: unknown, entries: number, characters: number, place: string, cuts: Cuts): unknown {
  if (typeof value === 'number') return Math.round(1000 * value) / 1000;
  if (typeof value === 'string') return value.length > characters ? `${value.slice(0, characters)}…` : value;
  if (Array.isArray(value)) {
    if (value.length > entries) cuts.set(place, { kept: entries, of: Math.max(value.length, cuts.get(place)?.of ?? 0) });
    return value.slice(0, entries).map(each => shortened(each, entries, characters, `${place}[]`, cuts));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      shortened(each, entries, characters, place === '' ? name : `${place}.${name}`, cuts),
    ]),
  );
}
