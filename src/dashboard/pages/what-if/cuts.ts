import { agree } from '../../../base/plural.js';
import type { WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { count, duration, number } from '../../text/format.js';

/**
 * Says what all cuts save together, on as many nodes as the build had and on those of the handle: "The 2 cuts together save 68 s on 8 nodes (9 m 10 s
 * instead of 10 m 18 s), and bring nothing on 20." Empty: nothing is cut.
 */
export function cutsSentence(answer: WhatIfAnswer, uncut: WhatIfAnswer, nodes: number): string {
  const cuts = answer.assumptions.cut.length;
  const parts = [...new Set([answer.node_total, nodes])].flatMap((nodes, i) => {
    const [wall, before] = [answer, uncut].map(({ variants }) => variants.find(variant => variant.nodes === nodes)?.wall);
    if (wall === undefined || before === undefined) return [];
    const saved = before - wall;
    const on = i === 0 ? count(nodes, 'node') : number(nodes);
    if (Math.abs(saved) < 0.5) return [`${agree(cuts, 'brings', 'bring')} nothing on ${on}`];
    const verb = saved > 0 ? agree(cuts, 'saves', 'save') : agree(cuts, 'costs', 'cost');
    return [`${verb} ${duration(Math.abs(saved))} on ${on} (${duration(wall)} instead of ${duration(before)})`];
  });
  if (cuts === 0 || parts.length === 0) return '';
  return `${cuts === 1 ? 'The cut' : `The ${number(cuts)} cuts together`} ${parts.join(', and ')}.`;
}
