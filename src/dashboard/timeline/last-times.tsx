import { useEffect, useState } from 'preact/hooks';
import type { FileHistory } from '../../protocol/answers/trends.js';
import { fileOfPiece } from '../../protocol/piece-path.js';
import { useLive } from '../data/live.js';
import { Sparkline } from '../parts/charts/sparkline.js';
import { withQuery } from '../routes/routes.js';
import { duration } from '../text/format.js';

/** Number of last builds that are shown. */
const SHOWN = 10;
/** A file is asked about when the mouse rests on it for so many milliseconds. */
const REST = 150;

/** Times of a file in the last builds of a branch, with its nodes. */
export function LastTimes({ path, branch, project }: { path: string; branch: string; project: number }) {
  const file = fileOfPiece(path);
  const asked = useRested(file);
  const address = asked === null ? null : withQuery('/v1/trends/files/history', { path: asked, branch });
  const { data } = useLive<FileHistory>(address, { attempt: 'load the times of this file', project });
  const points = data?.path === file ? data.points.slice(-SHOWN) : [];
  const last = points.at(-1);
  return (
    <div class="last-times">
      {last && (
        <>
          <Sparkline values={points.map(({ seconds }) => seconds)} />
          <span>
            {file !== path && 'the whole file, '}last {points.length === 1 ? 'build' : `${points.length} builds`}: {rangeOf(points)}
            {file === path && `; before on node ${last.node_index}`}
          </span>
        </>
      )}
    </div>
  );
}

function rangeOf(points: FileHistory['points']): string {
  const seconds = points.map(point => point.seconds);
  return `${duration(Math.min(...seconds))} to ${duration(Math.max(...seconds))}`;
}

function useRested(path: string): string | null {
  const [rested, setRested] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setRested(path), REST);
    return () => clearTimeout(timer);
  }, [path]);
  return rested === path ? path : null;
}
