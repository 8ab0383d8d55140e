import type { BuildLine } from '../../protocol/answers/trends.js';
import { SHAPES } from '../pages/builds/state.js';
import { number } from '../text/format.js';

type State = BuildLine['state'];

const TITLES: Record<State, string> = {
  running: 'Some node has files that it has not recorded',
  cancelled: 'Its CI system cancelled it, and files did not run: nobody knows whether they pass',
  missing: 'Files were planned and not recorded: nobody knows whether they pass',
  failed: 'Files failed when they last ran',
  complete: 'Every file of the plan was recorded, and none failed without being muted',
  recorded: 'Every file of the plan was recorded. The clients do not say whether files failed',
  unplanned: 'No queue and no split of the build is known, so nobody knows whether files are missing',
  partial: 'No queue and no split of the build is known, and some of its nodes recorded nothing',
  unknown: 'Its summary is not written yet',
};

/** State of a build, by shape, text and colour. */
export function Status({ state, failed = 0, missing = 0 }: { state: State; failed?: number | null; missing?: number }) {
  return (
    <span class={`status ${state}`} title={TITLES[state]}>
      <span class="shape" aria-hidden="true">
        {SHAPES[state]}
      </span>
      {statusText(state, { failed, missing })}
    </span>
  );
}

export function statusText(state: State, { failed, missing }: { failed: number | null; missing: number }): string {
  if (state === 'missing') return `${number(missing)} missing`;
  if (state === 'failed') return `${number(failed ?? 0)} failed`;
  return state === 'unplanned' ? 'not known' : state;
}
