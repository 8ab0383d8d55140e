import { agree } from '../../../base/plural.js';
import type { Variant, WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { priceText } from '../../../protocol/price.js';
import { count, duration, number } from '../../text/format.js';
import { inSentence, nameOf } from '../../text/in-sentence.js';
import { columnOf } from './curve.js';

/** Pieces are named in the first lines when they save this part of the wall time. */
const LEAST_GAIN = 0.03;

/** Says in sentences what the numbers of nodes bring: "12 nodes: 9 m 10 s." "14: 8 m 02 s." "From 17 on, a_spec.rb decides: ..." */
export function whatIfSentences(answer: WhatIfAnswer, nodes: number, isChosen: boolean): string[] {
  const { variants, node_total, useful_nodes, useful_range, longest, pieces, assumptions } = answer;
  const today = variants[columnOf(variants, node_total)];
  const chosen = variants[columnOf(variants, nodes)];
  const useful = variants[columnOf(variants, useful_nodes)];
  if (!today || !chosen || !useful) return ['No number of nodes was played.'];
  const compared = chosen !== today ? [chosen] : useful.nodes > today.nodes ? [useful] : [];
  return [
    `${count(today.nodes, 'node')}: ${duration(today.wall)}.`,
    ...compared.map(variant => `${number(variant.nodes)}: ${duration(variant.wall)}.`),
    limit(variants, useful, today, longest?.path ?? null),
    ...(pieces && !assumptions.in_pieces && !isChosen && pieces.saves > LEAST_GAIN * today.wall
      ? [`${piecesText(answer)}: add --pieces to ballast queue.`]
      : []),
    ...(useful_range && useful_range.builds > 1 ? [range(useful_range)] : []),
  ];
}

function range({ branch, builds, least, most }: NonNullable<WhatIfAnswer['useful_range']>): string {
  const numbers = least === most ? number(most) : `${number(least)} to ${number(most)}`;
  return `In the last ${number(builds)} builds of ${inSentence(branch)}, the useful number was ${numbers}.`;
}

function limit(variants: readonly Variant[], useful: Variant, today: Variant, longest: string | null): string {
  if (useful === variants.at(-1) && !useful.bound_by_file) return `Up to ${count(useful.nodes, 'node')}, more nodes are worth their jobs.`;
  const spare = today.nodes - useful.nodes;
  const enough = spare > 0 ? `${count(useful.nodes, 'is', 'are')} enough. ` : '';
  return `${enough}From ${number(useful.nodes)} on, ${reason(variants, useful, longest)}.`;
}

/** Why more than the useful number of nodes are of little use, as the end of a sentence. */
function reason(variants: readonly Variant[], useful: Variant, longest: string | null): string {
  const bound = variants.find(({ bound_by_file }) => bound_by_file);
  if (!bound || longest === null) return 'more nodes bring little';
  if (useful.bound_by_file) return `${nameOf(longest)} decides: more nodes bring nothing`;
  return `more nodes bring little, and from ${number(bound.nodes)} on ${nameOf(longest)} decides`;
}

/** Says what pieces bring on as many nodes as the build had: "With 2 files in pieces, 8 nodes end 3 m 10 s sooner". Empty: no pieces are possible. */
export function piecesText({ node_total, pieces }: Pick<WhatIfAnswer, 'node_total' | 'pieces'>): string {
  if (!pieces) return '';
  const nodes = count(node_total, 'node');
  if (pieces.files === 0) return `No file is worth cutting on ${nodes}`;
  const gain = Math.abs(pieces.saves) < 0.5 ? 'no sooner' : `${duration(Math.abs(pieces.saves))} ${pieces.saves > 0 ? 'sooner' : 'later'}`;
  return `With ${count(pieces.files, 'file')} in pieces, ${nodes} ${agree(node_total, 'ends', 'end')} ${gain}`;
}

/** A number of nodes beside today's: "1 m 08 s sooner, for 4 node-minutes more". */
export function difference(chosen: Variant, today: Variant): string {
  if (chosen.nodes === today.nodes) return 'as in the build';
  const sooner = today.wall - chosen.wall;
  const minutes = Math.round((chosen.node_seconds - today.node_seconds) / 60);
  const time = Math.abs(sooner) < 0.5 ? 'as long' : `${duration(Math.abs(sooner))} ${sooner > 0 ? 'sooner' : 'later'}`;
  const cost =
    minutes === 0 ? 'for as many node-minutes' : `for ${count(Math.abs(minutes), 'node-minute')} ${minutes > 0 ? 'more' : 'less'}`;
  const [own, other] = [chosen.price, today.price];
  const money = own && other ? ` (${priceText({ ...own, amount: Math.abs(own.amount - other.amount) })})` : '';
  return `${time}, ${cost}${minutes === 0 ? '' : money}`;
}
