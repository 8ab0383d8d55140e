/** Does the work for every item; at most `width` items are in progress at a time. */
export async function inParallel<T>(width: number, items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const remaining = items[Symbol.iterator]() as IterableIterator<T>;
  const worker = async () => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
