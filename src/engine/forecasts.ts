import type { Forecast } from '../planning/forecasting/forecast.js';
import type { QueueKey, SplitKey } from './keys.js';
import type { Store } from './ports/store.js';

/** What a split was expected to take when it was planned; null: there is none. */
export async function splitForecast({ splits }: Store, key: SplitKey): Promise<Forecast | null> {
  const split = await splits.find(key);
  return split && splits.forecast(split);
}

/** What a queue was expected to take when it was planned; null: there is none. */
export async function queueForecast({ queues }: Store, key: QueueKey): Promise<Forecast | null> {
  const queue = await queues.find(key);
  return queue && queues.forecast(queue.id);
}
