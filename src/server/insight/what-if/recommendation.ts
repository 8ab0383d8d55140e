import { capitalized } from '../../../base/capitalized.js';
import { durationText } from '../../../base/duration.js';
import { pluralize } from '../../../base/plural.js';
import type { NodeCount, NodeCountsAnswer } from '../../../protocol/answers/what-if.js';
import { priceText } from '../../../protocol/price.js';
import type { Price } from '../../../protocol/project-settings.js';
import type { Changes } from './what-if.js';

/** What the days since the first build cost, at most 30, on all branches; the price is null if the project has none. */
export interface Spent {
  days: number;
  price: Price | null;
}

interface Facts {
  changes: Pick<Changes, 'mode' | 'inPieces'>;
  spent: Spent;
  /** How many of the builds are to end in time. */
  enough: number;
  /** Wall times of builds that really took longer than the target, and do not as they are played, in seconds. */
  missed: readonly number[];
}

type Played = Omit<NodeCountsAnswer, 'sentence' | 'remarks'>;

/** Fewer builds than these say little. */
const FEW_BUILDS = 5;

/** Says what the recommended number of nodes brings, beside the usual one or the next lower one, what it costs, and why more bring little. */
export function recommendationOf(played: Played, facts: Facts): Pick<NodeCountsAnswer, 'sentence' | 'remarks'> {
  const { builds, counts, target, recommended, usual_nodes, bound } = played;
  const { changes, spent, enough, missed } = facts;
  const at = counts.findIndex(({ nodes }) => nodes === recommended);
  const found = counts[at];
  if (!found) return { sentence: 'No build of this branch has ended complete, so none can be played.', remarks: [] };
  const usual = counts.find(({ nodes }) => nodes === usual_nodes);
  const other = found === usual ? counts[at - 1] : usual;
  const nodesOf = (count: NodeCount) => `${count === usual ? 'the usual ' : ''}${pluralize(count.nodes, 'node')}`;
  const few = builds.length < FEW_BUILDS ? [`Only ${pluralize(builds.length, 'build')} could be played.`] : [];
  const untried = found === counts.at(-1) ? ['More may be worth their jobs, too.'] : [];
  const decides = bound ? [boundText(bound, found)] : [];
  const isAsItWas = changes.mode === null && changes.inPieces === null;
  const cost = usual && found !== usual ? [costOfOther(found, usual, isAsItWas ? spent : null)] : [];
  if (target === null || found.within === null) {
    const beyond = untried.length > 0 ? '' : ', beyond which more bring little';
    const times = [other, found].flatMap(count =>
      count ? [`in ${durationText(count.median_wall)} on ${nodesOf(count)}${count === found ? beyond : ''}`] : [],
    );
    const sentence = `The median build${howText(changes)} would end ${times.join(' and ')}.`;
    return { sentence, remarks: [...few, ...cost, ...(bound ? decides : untried)] };
  }
  const ends = `${found.within} of ${pluralize(builds.length, 'build')}${howText(changes)} would end within ${durationText(target)}`;
  const beside = other ? `; ${nodesOf(other)}: ${other.within} of ${builds.length}` : '';
  const isMet = found.within >= enough;
  const unmet = `No number up to ${pluralize(counts.at(-1)!.nodes, 'node')} is enough. `;
  const sentence = `${isMet ? '' : unmet}${capitalized(`${nodesOf(found)}: ${ends}${beside}.`)}`;
  const why = isMet ? [] : bound ? decides : untried;
  return { sentence, remarks: [...few, ...why, ...(missed.length > 0 && changes.mode === null ? [missedText(missed)] : []), ...cost] };
}

/** How the builds are played, if not as they were. */
function howText({ mode, inPieces }: Facts['changes']): string {
  const pieces = inPieces === null ? '' : inPieces ? ' with long files in pieces' : ' with whole files';
  return `${mode === null ? '' : ` as a ${mode}`}${pieces}`;
}

function missedText(walls: readonly number[]): string {
  const longest = `${walls.length > 1 ? 'up to ' : ''}${durationText(Math.max(...walls))}`;
  return `${walls.length} of them really took longer as ${walls.length === 1 ? 'it' : 'they'} ran, ${longest}: chance, such as a restart, is not played.`;
}

function boundText({ nodes, path }: NonNullable<NodeCountsAnswer['bound']>, found: NodeCount): string {
  const from = nodes <= found.nodes ? `On ${pluralize(found.nodes, 'node')}` : `From ${pluralize(nodes, 'node')} on`;
  return `${from}, ${path} alone decides when a build ends.`;
}

/** @param spent null: the builds are not played as they were, so it is nothing to compare with */
function costOfOther(found: NodeCount, usual: NodeCount, spent: Spent | null): string {
  if (!spent && found.price && usual.price)
    return `A build costs ${priceText(found.price)} on ${pluralize(found.nodes, 'node')}, and ${priceText(usual.price)} on ${usual.nodes}.`;
  if (spent?.price && spent.price.amount > 0 && found.price && usual.price && usual.price.amount > 0) {
    const { days, price } = spent;
    const amount = (price.amount * found.price.amount) / usual.price.amount;
    const last = days === 1 ? 'day' : `${days} days`;
    return `The last ${last} would have cost about ${priceText({ ...price, amount })} instead of ${priceText(price)}, on all branches.`;
  }
  const part = Math.round(100 * (found.job_seconds / usual.job_seconds - 1));
  const nodes = pluralize(found.nodes, 'node takes', 'nodes take');
  return part === 0
    ? `${nodes} as many node-minutes as ${usual.nodes}.`
    : `${nodes} ${Math.abs(part)} % ${part > 0 ? 'more' : 'fewer'} node-minutes than ${usual.nodes}.`;
}
