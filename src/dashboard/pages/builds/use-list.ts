import { useLayoutEffect, useState } from 'preact/hooks';
import type { BuildLine, BuildLines } from '../../../protocol/answers/trends.js';
import { get, type Request } from '../../data/api.js';
import type { Live } from '../../data/live.js';
import { withQuery } from '../../routes/routes.js';
import { scrolled, useKept } from '../../routes/visits.js';
import { mergeBuilds, updateBuilds } from './list.js';

interface List {
  path: string;
  builds: BuildLine[];
  next: string | null;
}

/** From here on in pixels, a reader is reading: new builds at the top would move the rows. */
const READING_FROM = 120;

/** The newest page, kept live, and the older pages that were asked for. Rows do not move under a reader. */
export function useBuildList(path: string, request: Request, { data, isLoading }: Live<BuildLines>) {
  const [list, setList] = useKept<List>('older builds', { path, builds: data?.builds ?? [], next: data?.next ?? null });
  const [held, setHeld] = useState<{ page: BuildLine[]; added: number }>({ page: [], added: 0 });
  const [isLoadingOlder, setLoadingOlder] = useState(false);

  // Before the page is painted: a list is never seen without its rows.
  useLayoutEffect(() => {
    if (!data || isLoading) return;
    setList(list => {
      if (list.path !== path || list.builds.length === 0) return { path, builds: data.builds, next: data.next };
      const { builds, added } = updateBuilds(list.builds, data.builds);
      const isReading = added > 0 && scrolled() > READING_FROM;
      setHeld({ page: data.builds, added: isReading ? added : 0 });
      return { ...list, builds: isReading ? builds : mergeBuilds(list.builds, data.builds) };
    });
  }, [data, path, isLoading]);

  const loadOlder = async () => {
    if (isLoadingOlder) return;
    setLoadingOlder(true);
    try {
      const older = await get<BuildLines>(withQuery(path, { cursor: list.next }), { ...request, attempt: 'load older builds' });
      setList(list => (list.path === path ? { path, builds: [...list.builds, ...older.builds], next: older.next } : list));
    } catch {
      // The button stays, and the list itself tells when the server does not answer.
    } finally {
      setLoadingOlder(false);
    }
  };

  return {
    builds: list.builds,
    added: held.added,
    showAdded: () => {
      setList(list => ({ ...list, builds: mergeBuilds(list.builds, held.page) }));
      setHeld({ page: [], added: 0 });
      scrollTo(0, 0);
    },
    /** Null: there are none. */
    loadOlder: list.next === null ? null : () => void loadOlder(),
    isLoadingOlder,
  };
}
