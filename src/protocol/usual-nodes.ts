/** The most common number of nodes of builds, newest first. Of two that are as common, the newer one; null: there is no build. */
export function usualNodeTotal(builds: readonly { node_total: number }[]): number | null {
  const counts = new Map<number, number>();
  for (const { node_total } of builds) counts.set(node_total, (counts.get(node_total) ?? 0) + 1);
  // The newest comes first, and stays there among equals.
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? null;
}
