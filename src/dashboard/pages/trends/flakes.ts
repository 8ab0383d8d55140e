import type { FlakyCost } from '../../../protocol/answers/flaky.js';
import { count } from '../../text/format.js';
import { effectsText } from '../flaky/sentences.js';

/** Says what flaky files cost: "Flaky files cost 3.2 node-hours in the last 30 days, on all branches." Empty: nothing. */
export function flakeSentences(cost: FlakyCost): string[] {
  const effects = effectsText(cost);
  return effects ? [`Flaky files ${effects} in the last ${count(cost.days, 'day')}, on all branches.`] : [];
}
