import type { BuildKey } from '../../api/messages/build-key.js';
import type { Forecast } from '../../planning/forecasting/forecast.js';
import type { Parts } from './open.js';
import { findQueue, queueKey } from './queue-keys.js';
import { findSplit, splitKey } from './splits.js';

/** What the split of a build was expected to come to; null when there is none. `ci_build_id` null: the fixed split. */
export function splitForecast(store: Parts, project: number, key: BuildKey, ci_build_id: string | null): Forecast | null {
  const split = findSplit(store, splitKey(project, key, ci_build_id));
  return forecastOf(store, split?.id ?? null);
}

/** What the queue of a build was expected to come to; null when there is none. */
export function queueForecast(store: Parts, project: number, key: BuildKey, node_build_id: string): Forecast | null {
  return forecastOf(store, findQueue(store, queueKey(project, key, node_build_id)));
}

function forecastOf(store: Parts, id: string | null): Forecast | null {
  const record = id === null ? undefined : store.forecasts.get(id);
  if (!record) return null;
  const { v: _, ...forecast } = record;
  return forecast;
}
