import type { Count } from '../text.js';
import type { BuildHead } from './minutes.js';

/** GET /v1/builds/:id/forecast: what was expected when the build was planned. Durations are seconds. */
export interface ForecastAnswer extends BuildHead {
  /** When the last node would finish, if all start together and take the estimated times. */
  makespan: number;
  lower_bound: number;
  ratio: number;
  bound_by_file: boolean;
  unknown_files: Count;
  binding_files: { path: string; seconds: number }[];
  useful_nodes: Count;
  /** What it took; null: it is running. */
  wall: number | null;
}
