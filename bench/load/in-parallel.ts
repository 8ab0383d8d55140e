/** Does the work for every item, so many at a time. */
export async function inParallel<T>(width: number, items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items[Symbol.iterator]() as IterableIterator<T>;
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
