import { durationText } from '../../src/base/duration.js';
import { type Figures, middle, toMillis } from './recompute.js';

/** Reads the sentences of a verdict, and says which of them the figures contradict. */

type Check = (told: string[], figures: Figures, minutes: any) => boolean;

const DURATION = '(\\d[\\d.]* (?:ms|s|[mhd] \\d+ [smh]))';
const NODES = 'Nodes? ([\\d, ]+(?: and \\d+ more)?)';
const MORE = `(?:, ${DURATION} more than node (\\d+))?`;
const MISSING_FILES = '(\\d+) test files? (?:is|are) missing \\((\\S+)(?: and \\d+ more)?\\)';
const MISSING = `(?:: ${MISSING_FILES})?`;

const names = (indexes: number[]) => `${indexes.slice(0, 5).join(', ')}${indexes.length > 5 ? ` and ${indexes.length - 5} more` : ''}`;
const which = ({ nodes }: Figures, is: (node: Figures['nodes'][number]) => boolean) => names([...nodes.keys()].filter(i => is(nodes[i]!)));
/** Answers are rounded to whole milliseconds, so that their sums are exact. */
export const isTold = (told: string | undefined, seconds: number) =>
  [-0.001, 0, 0.001].some(error => durationText(seconds + error) === told);
const factor = (value: number) => `${value < 9.95 ? value.toFixed(1) : Math.round(value)}x`;
const areMissing = (told: string | undefined, path: string | undefined, { missing }: Figures) =>
  told === undefined || (Number(told) === missing.size && missing.has(path!));
/** A time of the last batch is a part of that of the node. */
const isPartOf = (told: string | undefined, seconds: number, isLast: boolean) =>
  isTold(told, seconds) || (isLast && Number.parseFloat(told!) <= seconds + 0.5);
const isSlow = ({ slowness }: Figures['nodes'][number]) => (slowness ?? 1) >= 1.15;
/** Less than this between two ends does not count: 2 s, or 2 % of the wall time. */
export const leastDelay = ({ wall }: Figures) => Math.max(2, 0.02 * wall);
const spread = ({ ended }: Figures) => toMillis(ended[0]!.end - ended.at(-1)!.end);
const delay = ({ ended }: Figures) => toMillis(ended[0]!.end - ended[1]!.end);
const part = (minutes: any, name: string): number => minutes.parts.find((each: any) => each.name === name).seconds;

const LOSSES_TOLD: Record<string, string> = {
  'slow nodes': 'slow_nodes',
  'wrong estimates': 'estimates',
  'late starts': 'late_starts',
  'time in no report': 'unreported',
  'time between files': 'gaps',
  'files that ran again': 'repeats',
  'wait for the last node': 'idle',
};
const LOSS = `(${Object.keys(LOSSES_TOLD).join('|')})`;

/** Why a node ended last, as far as it is said. */
const CAUSES: [RegExp, (told: string[], node: number, figures: Figures, minutes: any) => boolean][] = [
  [/^$/, () => true],
  [
    /^(\S+) took (\S+x) its estimate there(?: \(it grew, or the node is slow\))?$/,
    ([path, told], _, { estimates, seconds }) => {
      const estimate = estimates.get(path!) ?? null;
      return estimate !== null && told === factor(seconds.get(path!)! / estimate);
    },
  ],
  [
    new RegExp(`^(\\S+) took ${DURATION} there, and had not been measured before$`),
    ([path, told], _, { estimates, seconds }) => (estimates.get(path!) ?? null) === null && isTold(told, seconds.get(path!)!),
  ],
  [/^it took (\S+x) as long as other nodes for its files$/, ([told], node, { nodes }) => told === factor(nodes[node]!.slowness!)],
  [
    new RegExp(`^it(?:s first recorded file)? started ${DURATION} late${MORE}$`),
    ([told], node, { nodes }) => isTold(told, nodes[node]!.late),
  ],
  [
    new RegExp(`^it lost ${DURATION} between its( last)? files${MORE}$`),
    ([told, last], node, _, { nodes }) => isPartOf(told, nodes[node].gaps, last !== undefined),
  ],
  [
    new RegExp(`^its( last)? files took ${DURATION} that is in no report${MORE}$`),
    ([last, told], node, figures, { nodes }) =>
      isPartOf(told, nodes[node].unreported, last !== undefined) && nodes[node].unreported <= figures.nodes[node]!.between,
  ],
  [/^its last files took (\S+x) their estimates$/, ([told]) => Number.parseFloat(told!) >= 1.1],
  [new RegExp(`^it restarted, (?:and ran its files again|${DURATION} late)$`), (_, node, { nodes }) => nodes[node]!.repeats > 0],
];
const isCause = (told: string | undefined, node: string, figures: Figures, minutes: any) => {
  const cause = CAUSES.find(([pattern]) => pattern.test(told ?? ''));
  return cause?.[1](cause[0].exec(told ?? '')!.slice(1), Number(node), figures, minutes) === true;
};

/** The sentences of what matters most come first. */
const LOSSES: [string, Check][] = [
  [
    `^${NODES} recorded nothing after the last files that (?:it|they) got${MISSING}\\.$`,
    ([told, count, path], f) => told === which(f, ({ isLost }) => isLost) && areMissing(count, path, f),
  ],
  [
    `^${NODES} recorded nothing${MISSING}\\.$`,
    ([told, count, path], f) => !f.isQueue && told === which(f, ({ start }) => start === null) && areMissing(count, path, f),
  ],
  [
    `^${MISSING_FILES}: (?:(no node)|${NODES.replace('N', 'n')}) got (?:it|them)\\.$`,
    ([count, path, none, told], f) => {
      const had = new Set([...f.missing.values()].filter(node => node !== null));
      return areMissing(count, path, f) && (none !== undefined ? had.size === 0 : told === names([...had].sort((a, b) => a - b)));
    },
  ],
];
const FAILED = '(\\S+) on node (\\d+)';
const OTHERS: [string, Check][] = [
  [
    `^(\\d+) test files? failed: ${FAILED}(?:, ${FAILED})?(?:, ${FAILED})?(?: and \\d+ more)?\\.$`,
    ([told, path, node], { failed, hadBy }) =>
      Number(told) === failed?.length && failed.includes(path!) && hadBy.get(path!) === Number(node),
  ],
  [`^First red after ${DURATION}\\.$`, ([told], { firstRed }) => isTold(told, firstRed)],
  [
    `^${NODES} ran nothing when run again, so a green result proves nothing\\.$`,
    ([told], f) => told === which(f, ({ ranNothingAgain }) => ranNothingAgain),
  ],
  [
    `^(\\S+) decides this build: it took ${DURATION} on node (\\d+)(?:, \\S+ its estimate(?: \\(it grew, or the node is slow\\))?|, where files took \\S+ their estimates)?, longer than an even share of ${DURATION}\\.$`,
    ([path, took, node, share], { longest, evenShare }) =>
      path === longest.path && isTold(took, longest.seconds) && Number(node) === longest.node && isTold(share, evenShare),
  ],
  [`^That node started ${DURATION} late\\.$`, ([told], { longest, nodes }) => isTold(told, nodes[longest.node]!.late)],
  ['^One node ran everything\\.$', (_, { participants, missing }) => participants === 1 && missing.size === 0],
  [
    `^All nodes finished within ${DURATION} of each other\\.$`,
    ([told], f) => isTold(told, spread(f)) && spread(f) <= leastDelay(f) && f.ended.length === f.participants,
  ],
  [`^The other nodes finished within ${DURATION} of each other\\.$`, ([told], f) => isTold(told, spread(f)) && spread(f) <= leastDelay(f)],
  [
    `^Nodes finished up to ${DURATION} apart: node (\\d+) first, node (\\d+) last(?:: (.*))?\\.$`,
    ([told, first, last, cause], f, minutes) =>
      isTold(told, spread(f)) &&
      Number(first) === f.ended.at(-1)!.node &&
      Number(last) === f.ended[0]!.node &&
      isCause(cause, last!, f, minutes),
  ],
  [
    `^Node (\\d+) finished ${DURATION} after node (\\d+)(?:: (.*))?\\.$`,
    ([last, told, before, cause], f, minutes) =>
      isTold(told, delay(f)) &&
      Number(last) === f.ended[0]!.node &&
      Number(before) === f.ended[1]!.node &&
      isCause(cause, last!, f, minutes),
  ],
  [
    `^${NODES} restarted, and files ran again\\.$`,
    ([told], f) => told === which(f, ({ repeats, isLost }) => repeats > 0.02 * f.wall && !isLost),
  ],
  [
    `^${NODES} w(?:as|ere) slow, which cost ${DURATION} of the build\\.$`,
    ([told, cost], f, minutes) => told === which(f, isSlow) && isTold(cost, part(minutes, 'slow_nodes')),
  ],
  [
    `^${NODES} (?:started late|began (?:its|their) first recorded files late), which cost ${DURATION} of the build\\.$`,
    ([told, cost], f, minutes) => told === which(f, ({ late }) => late > leastDelay(f)) && isTold(cost, part(minutes, 'late_starts')),
  ],
  [`^${DURATION} of the build was lost to the ${LOSS}\\.$`, ([told, loss], _, minutes) => isTold(told, part(minutes, LOSSES_TOLD[loss!]!))],
  [
    `^Nothing stands out: ${DURATION} was lost, (?:most of it|the largest part, ${DURATION},) to the ${LOSS}\\.$`,
    ([lost, largest, loss], f, minutes) => {
      const seconds = part(minutes, LOSSES_TOLD[loss!]!);
      const isLargest = minutes.parts.slice(2).every((each: any) => each.seconds <= seconds);
      const share = largest === undefined ? seconds >= minutes.lost / 2 : isTold(largest, seconds);
      return isTold(lost, f.wall - f.floor) && isLargest && share;
    },
  ],
  [
    "^The estimates of the test files were about (\\S+x) too (low|high): another client or report may count other parts of a file's time\\.$",
    ([told, direction], { estimates, seconds }) => {
      const times = middle([...seconds].flatMap(([path, took]) => (took > 0 && estimates.get(path) ? took / estimates.get(path)! : [])));
      return direction === (times > 1 ? 'low' : 'high') && told === factor(Math.max(times, 1 / times));
    },
  ],
  ['^Later builds learn the new times\\.$', () => true],
  [
    '^The build is running: (\\d+) of (\\d+) nodes (?:is|are) at work, (\\d+) ha(?:s|ve) ended\\.$',
    ([atWork, all, ended], { nodes, state }) => {
      const done = nodes.filter(({ hasRecorded }) => hasRecorded).length;
      const began = nodes.filter(({ start }) => start !== null).length;
      return state === 'running' && Number(atWork) === began - done && Number(all) === nodes.length && Number(ended) === done;
    },
  ],
  [
    `^${NODES} ha(?:s|ve) not recorded (\\d+) test files? yet\\.$`,
    ([told, count], f) =>
      told === which(f, ({ start, hasRecorded }) => start !== null && !hasRecorded) &&
      Number(count) === [...f.missing.values()].filter(node => node !== null).length,
  ],
];

/** Lists the false statements of a verdict, and those that it should make first and does not. Empty: none. */
export function contradictions(verdict: string, figures: Figures, minutes: any): string[] {
  const sentences = verdict.split(/(?<=\.) /);
  const problems: string[] = [];
  let hasOther = false;
  for (const sentence of sentences) {
    const found = [...LOSSES, ...OTHERS].find(([pattern]) => new RegExp(pattern).test(sentence));
    if (!found) problems.push(`unknown: ${sentence}`);
    else if (!found[1](new RegExp(found[0]).exec(sentence)!.slice(1), figures, minutes)) problems.push(`not so: ${sentence}`);
    const isLoss = found !== undefined && LOSSES.includes(found);
    if (isLoss && hasOther) problems.push(`not first: ${sentence}`);
    hasOther ||= !isLoss;
  }
  const { missing, nodes, state, isQueue } = figures;
  if (state !== 'running' && missing.size > 0 && !/\d test files? (is|are) missing/.test(verdict))
    problems.push('the missing files are not told');
  if ((figures.failed ?? []).length > 0 && !/test files? failed: /.test(verdict)) problems.push('the files that failed are not told');
  if (nodes.some(({ ranNothingAgain }) => ranNothingAgain) && !verdict.includes('ran nothing when run again'))
    problems.push('the empty runs are not told');
  if (nodes.some(({ isLost }) => isLost) && !verdict.includes('recorded nothing after')) problems.push('the lost nodes are not told');
  if (state !== 'running' && !isQueue && nodes.some(({ start }) => start === null) && !verdict.includes('recorded nothing'))
    problems.push('absent nodes are not told');
  return problems;
}
