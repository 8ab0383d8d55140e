import type { WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { Duration } from '../../parts/amounts.js';
import { Path } from '../../parts/path.js';
import { count, duration, number } from '../../text/format.js';
import { piecesText } from './sentences.js';

interface Props {
  answer: WhatIfAnswer;
  onChange: (changes: Record<string, string | null>) => void;
}

/** The switches: whether the build is played as a queue or a split, and whether long files run in pieces. */
export function Controls({ answer, onChange }: Props) {
  const { mode, in_pieces } = answer.assumptions;
  return (
    <section>
      <div class="choices">
        <label>
          Mode
          <select value={mode} onChange={event => onChange({ mode: event.currentTarget.value })}>
            <option value="queue">queue</option>
            <option value="split">split</option>
          </select>
        </label>
        {answer.pieces && (
          <label>
            <input type="checkbox" checked={in_pieces} onChange={() => onChange({ in_pieces: String(!in_pieces) })} />
            Long files in pieces
            <span class="quiet">{piecesText(answer)}.</span>
          </label>
        )}
      </div>
      {!in_pieces && <WorthCutting answer={answer} />}
      <p class="quiet">
        <code>ballast queue --pieces</code> runs long files in pieces: <a href="/docs/pieces">how pieces work</a>
      </p>
    </section>
  );
}

/** The files that are worth cutting by hand. */
function WorthCutting({ answer: { worth_cutting, node_count } }: Pick<Props, 'answer'>) {
  if (worth_cutting.length === 0) return <p class="quiet">On the {count(node_count, 'node')} of this build, no file is worth cutting.</p>;
  return (
    <>
      <h2>Files worth cutting on {count(node_count, 'node')}</h2>
      <ul class="cuts">
        {worth_cutting.map(({ path, seconds, pieces, saves }) => (
          <li key={path}>
            <Path text={path} />
            <span class="number quiet">
              takes <Duration seconds={seconds} />; cut into {number(pieces)} pieces, it saves {duration(saves)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
