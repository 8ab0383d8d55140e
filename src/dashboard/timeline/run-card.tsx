import type { TimelineAnswer } from '../../protocol/answers/timeline.js';
import { Path } from '../parts/path.js';
import { duration, offset, times } from '../text/format.js';
import { LEFT } from './geometry.js';
import { failureText, type Lane, REPEATED, RUNNING, UNRECORDED } from './lanes.js';
import { LastTimes } from './last-times.js';
import { type Span, xOf } from './view.js';

interface Props {
  timeline: TimelineAnswer;
  lane: Lane;
  run: number;
  view: Span;
  width: number;
  top: number;
  project: number;
}

/** Facts about the run of a file, beside it. A screen reader says them when the focus moves. */
export function RunCard({ timeline, lane, run, view, width, top, project }: Props) {
  const file = lane.file[run]!;
  const path = timeline.paths[file]!;
  const x = Math.min(Math.max(0, xOf(lane.from[run]!, view, width)), width);
  const side = x > width / 2 ? { right: `${Math.max(0, width - x)}px` } : { left: `${LEFT + x}px` };
  return (
    <div class="run-card" role="status" style={{ top: `${top}px`, ...side }}>
      <p class="whole-path">
        <Path text={path} />
      </p>
      <p>{runSentence(timeline, lane, run)}</p>
      <p class="quiet">{placeSentence(lane, run)}</p>
      <LastTimes path={path} branch={timeline.branch} project={project} />
    </div>
  );
}

/** `93 s, estimate 30 s: 3.1×` */
function runSentence({ estimates, is_guess }: TimelineAnswer, lane: Lane, run: number): string {
  const [file, flags] = [lane.file[run]!, lane.flags[run]!];
  const estimate = estimates[file] ?? null;
  const seconds = lane.seconds[run]!;
  const expected = estimate === null ? 'no estimate' : `${is_guess[file] ? 'a guess of' : 'estimate'} ${duration(estimate)}`;
  if (flags & RUNNING) return `not recorded yet, ${expected}`;
  if (flags & UNRECORDED) return `not recorded here, ${expected}`;
  const ratio = estimate !== null && estimate > 0 ? `: ${times(seconds / estimate)}` : '';
  const failure = failureText(flags);
  return `${duration(seconds)}, ${expected}${ratio}${failure && ` · ${failure}`}`;
}

function placeSentence(lane: Lane, run: number): string {
  const batch = lane.batches[lane.batch[run]!]!;
  const part = batch.number === null ? '' : ` · batch ${batch.number}`;
  const lease = batch.lease === null ? '' : ` · lease ${batch.lease}`;
  return `node ${lane.node}${part} · at ${offset(lane.from[run]!, 1)}${lane.flags[run]! & REPEATED ? ' · repeated' : ''}${lease}`;
}
