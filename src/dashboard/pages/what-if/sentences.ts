import { agree } from '../../../base/plural.js';
import type { NodeCountsAnswer, Variant, WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { priceText } from '../../../protocol/price.js';
import { count, duration } from '../../text/format.js';
import { visible } from '../../text/path-text.js';
import { columnOf } from './curve.js';

/** Pieces are named in the first lines when they save this part of the wall time. */
const LEAST_GAIN = 0.03;

/** The answer, and what pieces would save if that is much: with them, fewer nodes may be enough. @param areChosen a reader has chosen pieces */
export function whatIfSentences({ sentence, remarks }: NodeCountsAnswer, answer: WhatIfAnswer, areChosen: boolean): string[] {
  const { variants, node_count, pieces, assumptions } = answer;
  const today = variants[columnOf(variants, node_count)];
  const isWorth = pieces && today && !areChosen && !assumptions.in_pieces && pieces.saves > LEAST_GAIN * today.wall;
  return [sentence, ...remarks, ...(isWorth ? [`${piecesText(answer)}: add --pieces to ballast queue.`] : [])].map(visible);
}

/** Says what pieces bring on as many nodes as the build had: "With 2 files in pieces, 8 nodes end 3 m 10 s sooner". Empty: no pieces are possible. */
export function piecesText({ node_count, pieces }: Pick<WhatIfAnswer, 'node_count' | 'pieces'>): string {
  if (!pieces) return '';
  const nodes = count(node_count, 'node');
  if (pieces.files === 0) return `No file is worth cutting on ${nodes}`;
  const gain = Math.abs(pieces.saves) < 0.5 ? 'no sooner' : `${duration(Math.abs(pieces.saves))} ${pieces.saves > 0 ? 'sooner' : 'later'}`;
  return `With ${count(pieces.files, 'file')} in pieces, ${nodes} ${agree(node_count, 'ends', 'end')} ${gain}`;
}

/** A number of nodes beside today's: "1 m 08 s sooner, for 4 node-minutes more". */
export function difference(chosen: Variant, today: Variant): string {
  if (chosen.nodes === today.nodes) return 'as in the build';
  const sooner = today.wall - chosen.wall;
  const minutes = Math.round((chosen.job_seconds - today.job_seconds) / 60);
  const time = Math.abs(sooner) < 0.5 ? 'as long' : `${duration(Math.abs(sooner))} ${sooner > 0 ? 'sooner' : 'later'}`;
  const cost =
    minutes === 0 ? 'for as many node-minutes' : `for ${count(Math.abs(minutes), 'node-minute')} ${minutes > 0 ? 'more' : 'less'}`;
  const [own, other] = [chosen.price, today.price];
  const money = own && other ? ` (${priceText({ ...own, amount: Math.abs(own.amount - other.amount) })})` : '';
  return `${time}, ${cost}${minutes === 0 ? '' : money}`;
}
