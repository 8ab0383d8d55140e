import type { ProjectOverview } from '../../src/protocol/answers/trends.js';

/** The overview of a project without builds, unless a test gives others. */
export const overviewOf = (name: string, more: Partial<ProjectOverview> = {}): ProjectOverview => ({
  id: 1,
  is_public: false,
  name,
  default_branch: null,
  builds_today: 0,
  incomplete_today: 0,
  cancelled_today: 0,
  unplanned_today: 0,
  with_failures_today: 0,
  passed_today: 0,
  running: 0,
  median_wall: null,
  idle_share: null,
  measured_day: null,
  saved_30_days: 0,
  builds_30_days: 0,
  cost_30_days: null,
  recent: [],
  ...more,
});
