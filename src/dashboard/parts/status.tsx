import type { BuildState } from '../builds/state.js';
import { count } from '../format.js';

const SHAPES: Record<BuildState, string> = { running: '◌', missing: '▲', failed: '✕', complete: '✓', unknown: '·' };

/** How a build ended, by shape, text and colour. */
export function Status({ state, failed = 0, missing = 0 }: { state: BuildState; failed?: number | null; missing?: number }) {
  return (
    <span class={`status ${state}`}>
      <span class="shape" aria-hidden="true">
        {SHAPES[state]}
      </span>
      {textOf(state, failed ?? 0, missing)}
    </span>
  );
}

function textOf(state: BuildState, failed: number, missing: number): string {
  if (state === 'missing') return `${count(missing, 'file')} missing`;
  return state === 'failed' ? `${count(failed, 'file')} failed` : state;
}
