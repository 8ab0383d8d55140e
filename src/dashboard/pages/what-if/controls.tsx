import { useRef } from 'preact/hooks';
import type { WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { Duration } from '../../parts/amounts.js';
import { Path } from '../../parts/path.js';
import { duration, number } from '../../text/format.js';
import { type Choices, withCut } from './choices.js';
import { piecesText } from './sentences.js';

interface Props {
  answer: WhatIfAnswer;
  choices: Choices;
  /** The build without the files that are cut by hand. */
  uncut: WhatIfAnswer;
  /** Gain of the cuts. */
  saved: string;
  onChange: (changes: Record<string, string | null>) => void;
}

/** The switches: whether the build is played as a queue or a split, and which files run in pieces or are cut. */
export function Controls({ answer, choices, uncut, saved, onChange }: Props) {
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
      </div>
      {uncut.pieces && <InPieces {...{ answer, uncut, onChange }} />}
      {!in_pieces && <Cuts key={answer.build_id} {...{ answer, choices, saved, onChange }} />}
    </section>
  );
}

/** The switch for long files in pieces, and what they bring. */
function InPieces({ answer, uncut, onChange }: Pick<Props, 'answer' | 'uncut' | 'onChange'>) {
  const { in_pieces } = answer.assumptions;
  return (
    <fieldset class="cuts">
      <legend>Long files</legend>
      <label>
        <input type="checkbox" checked={in_pieces} onChange={() => onChange({ in_pieces: String(!in_pieces), cut: null })} />
        In pieces
        <span class="quiet">{piecesText(uncut)}.</span>
      </label>
      <p class="quiet">
        <code>ballast queue --pieces</code> does this: <a href="/docs/pieces">how pieces work</a>
      </p>
    </fieldset>
  );
}

/** Files worth cutting by hand, and those that are cut. */
function Cuts({ answer, choices, saved, onChange }: Omit<Props, 'uncut'>) {
  const { worth_cutting, assumptions } = answer;
  // A file keeps its place when it is no longer worth a cut, because it is cut or others are: the focus may be there.
  const places = useRef(new Set<string>());
  for (const path of [...worth_cutting.map(file => file.path), ...choices.cut]) places.current.add(path);
  const worth = new Map(worth_cutting.map(file => [file.path, file]));
  const cuts = new Map(assumptions.cut.map(cut => [cut.path, cut]));
  const paths = [...places.current].filter(path => worth.has(path) || choices.cut.length > 0);
  if (paths.length === 0) {
    return <p class="quiet">No file is worth cutting: none of them delays the end of this build.</p>;
  }
  const change = (path: string) => onChange({ cut: withCut(choices.cut, path), in_pieces: answer.pieces ? 'false' : null });
  return (
    <fieldset class="cuts">
      <legend>Cut a file</legend>
      {paths.map(path => (
        <label key={path}>
          <input type="checkbox" checked={choices.cut.includes(path)} onChange={() => change(path)} />
          <Path text={path} />
          <span class="number quiet">{cuts.has(path) ? <Pieces cut={cuts.get(path)!} /> : <Worth file={worth.get(path)} />}</span>
        </label>
      ))}
      <p role="status">{saved}</p>
      {!answer.pieces && (
        <p class="quiet">
          With <code>--pieces</code>, <code>ballast queue</code> runs such files in pieces: <a href="/docs/pieces">how pieces work</a>
        </p>
      )}
    </fieldset>
  );
}

function Worth({ file }: { file: WhatIfAnswer['worth_cutting'][number] | undefined }) {
  if (!file) return 'a cut saves nothing more';
  return (
    <>
      takes <Duration seconds={file.seconds} />; cut into {number(file.pieces)} pieces, it saves {duration(file.saves)}
    </>
  );
}

function Pieces({ cut: { pieces, is_measured } }: { cut: WhatIfAnswer['assumptions']['cut'][number] }) {
  return (
    <>
      cut into {number(pieces)} {is_measured ? 'test cases' : 'equal pieces'}
    </>
  );
}
