const MIB = 1_048_576;

/** Memory that the program and two worker threads take at most while they read, plan and encode large suites, measured on two cores. */
const PROGRAM_BYTES = 600 * MIB;
/** PROGRAM_BYTES and the bounds below, in three threads. */
export const DEFAULT_MEMORY_BYTES = 2304 * MIB;
/** Less would leave the bounds too little for large suites. */
export const LEAST_MEMORY_BYTES = 768 * MIB;

const DEFAULTS = {
  /** Bodies and large answers of all requests in flight; beyond it 503. One token may use half of it. */
  requests: 512 * MIB,
  /** Memory of large bodies that were read, for the next ones: as much as the largest body has. */
  spareBodies: 32 * MIB,
  /** Open queues, unless BALLAST_QUEUE_CACHE_BYTES says another number. */
  queues: 256 * MIB,
  /** Cached suites: twice the bytes of their paths, and 50 bytes a file. */
  suites: 128 * MIB,
  /** Changes in the journal that wait for a checkpoint. An eighth of this bound starts a checkpoint at once; beyond the bound 503. */
  journal: 64 * MIB,
  /** In each thread: paths and their numbers, about 500,000 paths of usual length. */
  pathNumbers: 96 * MIB,
  /** In each thread: paths by their numbers. */
  pathNames: 64 * MIB,
  /** In each thread, if the store is in PostgreSQL: parts of splits and queues. */
  planParts: 32 * MIB,
  /** In each thread: memory that is reused to encode large suites. */
  scratch: 32 * MIB,
};

/** The memory that each cache and buffer may take, in bytes. */
export const memoryBounds: Readonly<typeof DEFAULTS> = { ...DEFAULTS };

/** The bounds of a process with so much memory. */
export function boundsFor(bytes: number): typeof DEFAULTS {
  const part = (bytes - PROGRAM_BYTES) / (DEFAULT_MEMORY_BYTES - PROGRAM_BYTES);
  return Object.fromEntries(Object.entries(DEFAULTS).map(([name, bound]) => [name, Math.floor(part * bound)])) as typeof DEFAULTS;
}

/** Sets the bounds. The process and each of its threads call it once, before they open anything. */
export function scaleMemory(bytes: number): void {
  Object.assign(memoryBounds, boundsFor(bytes));
}
