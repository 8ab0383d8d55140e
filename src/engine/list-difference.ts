/** How two lists of test files differ. */
export interface ListDifference {
  /** The number of files in the list of the split or queue, and in the list of a node. */
  planned: number;
  listed: number;
  onlyPlanned: string[];
  onlyListed: string[];
}

export function listDifference(planned: readonly string[], listed: readonly string[]): ListDifference {
  const [isPlanned, isListed] = [new Set(planned), new Set(listed)];
  return {
    planned: isPlanned.size,
    listed: isListed.size,
    onlyPlanned: [...isPlanned].filter(path => !isListed.has(path)),
    onlyListed: [...isListed].filter(path => !isPlanned.has(path)),
  };
}

const MAX_PATHS = 3;
const MAX_PATH_CHARACTERS = 200;

/** Describes both lists in a clause that begins a sentence. */
export function describeDifference(what: 'split' | 'queue', { planned, listed, onlyPlanned, onlyListed }: ListDifference): string {
  return `the ${what} was made of ${planned} test files, and this node lists ${listed}: ${named(onlyPlanned)} only in the ${what}, ${named(onlyListed)} only on this node`;
}

function named(paths: readonly string[]): string {
  if (paths.length === 0) return 'none';
  const more = paths.length - MAX_PATHS;
  const names = paths.slice(0, MAX_PATHS).map(path => JSON.stringify(path.slice(0, MAX_PATH_CHARACTERS)));
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
