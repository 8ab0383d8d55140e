import type { Forecast } from '../../planning/forecasting/forecast.js';
import type { ForecastRecord } from './records.js';

export function toForecast(record: ForecastRecord | undefined): Forecast | null {
  if (!record) return null;
  const { v: _, ...forecast } = record;
  return forecast;
}
