import type { Pull } from '../../../../src/server/engine/queue/batch.js';

export const NOW = Date.UTC(2026, 0, 1);

/** A pull of node 0 in the run "run-1", unless overridden. */
export const requestOf = (overrides: Partial<Pull> = {}): Pull => ({
  node_index: 0,
  run: 'run-1',
  batch_uuid: null,
  isRetry: false,
  isFirstRequest: false,
  wantsLastSplit: false,
  recordedRunId: null,
  hasLeft: () => false,
  ...overrides,
});
