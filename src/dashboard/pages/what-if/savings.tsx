import type { WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { Duration } from '../../parts/amounts.js';
import { duration } from '../../text/format.js';

const METHODS: [name: 'round_robin' | 'by_name' | 'one_at_a_time', title: string, about: string][] = [
  ['round_robin', 'round-robin', 'File 1 to node 0, file 2 to node 1, and so on, in the order of the list.'],
  ['by_name', 'by name', 'Each node gets the same number of files, in the order of their names.'],
  ['one_at_a_time', 'one at a time', 'A queue in the order of the list, from which each node takes one file at a time.'],
];

/** The times of other methods on the same recorded times. */
export function Savings({ answer, wall }: { answer: WhatIfAnswer; wall: number }) {
  const most = Math.max(wall, ...Object.values(answer.baselines), 0.001);
  const rows = METHODS.map(([name, title, about]) => ({ title, about, seconds: answer.baselines[name] }));
  return (
    <section>
      <h2>The same files with other methods</h2>
      <table class="savings">
        <tbody>
          <Row title="Ballast" about="As played above." seconds={wall} most={most} difference="" />
          {rows.map(({ title, about, seconds }) => (
            <Row key={title} {...{ title, about, seconds, most }} difference={differenceOf(seconds - wall)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const differenceOf = (seconds: number) =>
  Math.abs(seconds) < 0.5 ? 'as long' : seconds > 0 ? `${duration(seconds)} later` : `${duration(-seconds)} sooner`;

interface RowProps {
  title: string;
  about: string;
  seconds: number;
  most: number;
  difference: string;
}

function Row({ title, about, seconds, most, difference }: RowProps) {
  return (
    <tr title={about}>
      <th scope="row">{title}</th>
      <td class="number">
        <Duration seconds={seconds} />
      </td>
      <td class="bar" aria-hidden="true">
        <span style={{ width: `${(seconds / most) * 100}%` }} />
      </td>
      <td class="number quiet">{difference}</td>
    </tr>
  );
}
