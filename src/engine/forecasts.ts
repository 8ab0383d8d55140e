import type { Forecast } from '../planning/forecasting/forecast.js';
import type { QueueKey, SplitKey } from './keys.js';
import type { Store } from './ports/store.js';

/** The times expected of a split when it was planned; null: there is no split. */
export async function splitForecast({ splits }: Store, key: SplitKey): Promise<Forecast | null> {
  const split = await splits.find(key);
  return split && splits.forecast(split);
}

/** The times expected of a queue when it was planned; null: there is no queue. */
export async function queueForecast({ queues }: Store, key: QueueKey): Promise<Forecast | null> {
  const queue = await queues.find(key);
  return queue && queues.forecast(queue.id);
}
