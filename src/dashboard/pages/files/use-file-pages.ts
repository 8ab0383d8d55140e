import { useMemo, useRef } from 'preact/hooks';
import type { FileTrend, FileTrends } from '../../../protocol/answers/trends.js';
import { get } from '../../data/api.js';
import { type Live, useLive } from '../../data/live.js';
import { withQuery } from '../../routes/routes.js';
import { useKept } from '../../routes/visits.js';

/** Files of one request. */
const PAGE = 500;
/** Interval at which the first page is loaded again, in seconds. */
const REFRESH = 60;

/** A file of a list, or, while it is not loaded, its place in the list. */
export type FileRow = FileTrend | number;

export interface FilePages {
  live: Live<FileTrends>;
  rows: readonly FileRow[];
  /** Loads the page with a place of the list. */
  load: (place: number) => void;
}

/** The files of a branch in the server's order: the first ones, and further ones as they come into view. */
export function useFilePages(project: number, query: Record<string, string | null>): FilePages {
  const path = withQuery('/v1/trends/files', { ...query, limit: PAGE });
  const request = { attempt: 'load the files', project };
  const live = useLive<FileTrends>(path, request, () => REFRESH);
  const [kept, setKept] = useKept<Further>('further files', { path, pages: new Map() });
  const further = useMemo(() => (kept.path === path ? kept : { path, pages: new Map() }), [kept, path]);
  const asked = useMemo(() => new Set(further.pages.keys()), [path]);
  const current = useRef(path);
  current.current = path;

  const load = (place: number) => {
    const page = Math.floor(place / PAGE);
    if (page === 0 || asked.has(page)) return;
    asked.add(page);
    get<FileTrends>(withQuery(path, { offset: page * PAGE }), request).then(
      ({ files }) =>
        current.current === path && setKept(kept => ({ path, pages: new Map(kept.path === path ? kept.pages : []).set(page, files) })),
      // The row asks again when it comes into view again.
      () => asked.delete(page),
    );
  };
  const rows = useMemo(() => rowsOf(live.data, further.pages), [live.data, further]);
  return { live, rows, load };
}

/** The pages of a list after the first one. */
interface Further {
  path: string;
  pages: ReadonlyMap<number, FileTrend[]>;
}

function rowsOf(first: FileTrends | null, further: ReadonlyMap<number, FileTrend[]>): FileRow[] {
  if (!first) return [];
  const rows: FileRow[] = [...first.files];
  for (let place = rows.length; place < first.file_count; place++) {
    rows.push(further.get(Math.floor(place / PAGE))?.[place % PAGE] ?? place);
  }
  return rows;
}
