import { useMemo } from 'preact/hooks';
import type { MinutesAnswer } from '../../../protocol/answers/minutes.js';
import type { TimelineAnswer } from '../../../protocol/answers/timeline.js';
import { agedTimeline } from '../../data/aged.js';
import { useLive, whileRunning } from '../../data/live.js';
import { Empty, Loaded } from '../../parts/states.js';
import type { BuildViewProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { count } from '../../text/format.js';
import { filterLane, isFiltering, matchPaths, parseFilter } from '../../timeline/filter.js';
import { lanesOf } from '../../timeline/lanes.js';
import { FileDrawer } from './files/file-drawer.js';
import { fileRows } from './files/file-rows.js';
import { BuildFiles } from './files/files.js';
import { TimelineView } from './timeline-view.js';

interface Props extends BuildViewProps {
  tab: 'timeline' | 'files';
}

const REFRESH = 2;
/** A part of the minutes emphasises the nodes that caused so much of what the first one did. */
const CAUSE = 0.25;

/** The files of a build on their nodes, as a drawing or as a table, and the search through them. */
export function Evidence({ project, build, id, tab }: Props) {
  const request = { attempt: 'load the timeline', project: project.id };
  const live = useLive<TimelineAnswer>(`/v1/builds/${encodeURIComponent(id)}/timeline`, request, whileRunning(REFRESH), agedTimeline);
  return (
    <Loaded live={live} waiting={`Loading ${count(build.files, 'file')} …`}>
      {timeline => <Files project={project} build={build} timeline={timeline} tab={tab} />}
    </Loaded>
  );
}

function Files({ project, build, timeline, tab }: Omit<Props, 'id'> & { timeline: TimelineAnswer }) {
  const { query } = useAddress();
  const text = query.get('q') ?? '';
  const filter = useMemo(() => parseFilter(text), [text]);
  const lanes = useMemo(() => lanesOf(timeline), [timeline]);
  const matching = useMemo(() => {
    if (!isFiltering(filter)) return null;
    const isMatch = matchPaths(timeline.paths, filter);
    return lanes.map(lane => filterLane(lane, filter, isMatch));
  }, [lanes, filter]);
  const rows = useMemo(() => fileRows(timeline, lanes, matching ?? lanes, filter), [lanes, matching]);
  const nodes = useMemo(() => emphasised(build, query.get('part')), [build, query.get('part')]);
  const file = query.get('file');
  return (
    <>
      <p class="found quiet small" role="status">
        {matching && rows.length > 0 ? `The search finds ${count(new Set(rows.map(({ path }) => path)).size, 'file')}.` : ''}
      </p>
      {matching && rows.length === 0 && (
        <Empty title={`No file of this build matches ${text}`}>
          <button type="button" onClick={() => setQuery({ q: null })}>
            Show all files
          </button>
        </Empty>
      )}
      {tab === 'timeline' && (
        <TimelineView project={project} build={build} timeline={timeline} lanes={lanes} matching={matching} nodes={nodes} />
      )}
      {tab === 'files' && rows.length > 0 && <BuildFiles rows={rows} />}
      {file !== null && (
        <FileDrawer project={project} timeline={timeline} lanes={lanes} path={file} onClose={() => setQuery({ file: null })} />
      )}
    </>
  );
}

/** The nodes that caused most of a part of the minutes; null: none is chosen, or no node is its cause. */
function emphasised({ parts }: MinutesAnswer, name: string | null): ReadonlySet<number> | null {
  const nodes = parts.find(part => part.name === name)?.nodes ?? [];
  const most = nodes[0]?.seconds ?? 0;
  return most > 0 ? new Set(nodes.filter(({ seconds }) => seconds >= CAUSE * most).map(({ node_index }) => node_index)) : null;
}
