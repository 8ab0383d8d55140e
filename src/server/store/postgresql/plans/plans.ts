import type { PlanParts, Plans } from '../../../engine/ports/plans.js';
import { encodeFiles, filesOfNode } from '../../codecs/file-blocks.js';
import type { Database } from '../connection/database.js';
import { fromJson } from '../json.js';
import { PARTS, type Pieces } from './pieces.js';

const FORECAST = 'select forecast from queues where id = $1 union all select forecast from splits where id = $1 limit 1';

export function postgresqlPlans(database: Database, pieces: Pieces) {
  const forecastOf = async (plan: string) =>
    fromJson<PlanParts['forecast']>((await database.read<{ forecast: string }>(FORECAST, [plan]))[0]?.forecast);
  return {
    part: <Name extends keyof PlanParts>(plan: string, name: Name) =>
      (name === 'forecast' ? forecastOf(plan) : pieces.part(plan, name)) as Promise<PlanParts[Name] | null>,
    async files(plan, which) {
      const files = typeof which === 'number' ? filesOfNode(await pieces.get(plan, PARTS.nodeEnds), plan, which) : which;
      return files && pieces.files(plan, files);
    },
    encode: encodeFiles,
  } satisfies Plans;
}
