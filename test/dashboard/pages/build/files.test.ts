import { describe, expect, it } from 'vitest';
import { fileRows } from '../../../../src/dashboard/pages/build/files/file-rows.js';
import { cutSentence } from '../../../../src/dashboard/pages/build/sentence.js';
import { filterLane, matchPaths, parseFilter } from '../../../../src/dashboard/timeline/filter.js';
import { lanesOf } from '../../../../src/dashboard/timeline/lanes.js';
import { directoryOf, sumSpan } from '../../../../src/dashboard/timeline/sums.js';
import type { TimelineAnswer } from '../../../../src/protocol/answers/timeline.js';
import { node, span } from '../../timeline/answers.js';

const timeline = {
  paths: ['spec/a.rb', 'spec/models/b.rb', 'spec/models/c.rb', 'd.rb', 'late.rb'],
  estimates: [10, 10, 10, 0, 4],
  is_guess: [0, 0, 1, 0, 0],
  is_running: false,
  nodes: [
    node([span({ to: 30, seconds: [10, 20], failed: [1], flaky: [0] })]),
    node([span({ files: [2], seconds: [10] }), span({ from: 10, to: 30, files: [3], seconds: [null] })], { node_index: 5 }),
  ],
} as unknown as TimelineAnswer;
const lanes = lanesOf(timeline);

/** Results of a search, as `node path`. */
function search(text: string): string[] {
  const filter = parseFilter(text);
  const isMatch = matchPaths(timeline.paths, filter);
  const found = lanes.map(lane => filterLane(lane, filter, isMatch));
  return fileRows(timeline, lanes, found, filter).map(({ node, path }) => `${node} ${path}`);
}

describe('a search for files of a build', () => {
  it.each([
    ['', ['0 spec/a.rb', '0 spec/models/b.rb', '5 spec/models/c.rb', '5 d.rb', 'null late.rb']],
    ['MODELS', ['0 spec/models/b.rb', '5 spec/models/c.rb']],
    ['models b.rb', ['0 spec/models/b.rb']],
    ['node:5', ['5 spec/models/c.rb', '5 d.rb']],
    ['node:6', []],
    ['failed:', ['0 spec/models/b.rb']],
    ['flaky:', ['0 spec/a.rb']],
    ['over: node:0', ['0 spec/models/b.rb']],
    ['missing:', ['5 d.rb', 'null late.rb']],
    ['repeated:', []],
  ])('finds what it says: %s', (text, found) => {
    expect(search(text)).toEqual(found);
  });

  it('explains what it does not understand', () => {
    expect(parseFilter('nodes:5').problems).toEqual([
      'There is no nodes: here. There are node:, failed:, flaky:, over:, missing: and repeated:.',
    ]);
  });
});

describe('the files of a build', () => {
  it('have their time over their estimate, where both are known', () => {
    expect(fileRows(timeline, lanes, lanes, parseFilter('')).map(({ seconds, ratio }) => [seconds, ratio])).toEqual([
      [10, 1],
      [20, 2],
      [10, 1],
      [null, null],
      [null, null],
    ]);
  });
});

describe('a selected span', () => {
  const span = { from: 5, to: 15 };

  it('counts the part of a run that is within it', () => {
    expect(sumSpan(lanes, timeline.paths, span, 'node')).toEqual({
      seconds: 15,
      files: 4,
      rows: [
        { name: '0', seconds: 10, share: 10 / 15, files: 2 },
        { name: '5', seconds: 5, share: 5 / 15, files: 2 },
      ],
    });
  });

  it('is summed by directory and by file, the longest first', () => {
    const rows = (by: 'directory' | 'file') => sumSpan(lanes, timeline.paths, span, by).rows.map(({ name, seconds }) => [name, seconds]);
    expect(rows('directory')).toEqual([
      ['spec/models', 10],
      ['spec', 5],
      ['.', 0],
    ]);
    expect(rows('file').map(([name]) => name)).toEqual(['spec/a.rb', 'spec/models/b.rb', 'spec/models/c.rb', 'd.rb']);
  });

  it('without a run has no rows', () => {
    expect(sumSpan(lanes, timeline.paths, { from: 40, to: 50 }, 'file')).toEqual({ seconds: 0, files: 0, rows: [] });
  });

  it('knows the directory of any path', () => {
    expect(['a', 'a/b', '/a', 'a/'].map(directoryOf)).toEqual(['.', 'a', '/', 'a']);
  });
});

describe('a sentence about a build', () => {
  it('has links to its nodes, files and numbers', () => {
    expect(cutSentence('Node 5 finished 94 s after node 2: spec/a+b.rb took 3 s, not spec/a.', ['spec/a', 'spec/a+b.rb'])).toEqual([
      { text: 'Node 5', node: 5 },
      { text: ' finished ' },
      { text: '94\u00a0s', isNumber: true },
      { text: ' after ' },
      { text: 'node 2', node: 2 },
      { text: ': ' },
      { text: 'spec/a+b.rb', path: 'spec/a+b.rb' },
      { text: ' took ' },
      { text: '3\u00a0s', isNumber: true },
      { text: ', not ' },
      { text: 'spec/a', path: 'spec/a' },
      { text: '.' },
    ]);
  });

  it.each(['0 s', '340 ms', '4.2 s', '8 m 12 s', '1 h 04 m', '2 d 3 h', '3.1x', '12x'])('links %s to the times of the nodes', number => {
    expect(cutSentence(`It took ${number} there.`, [])).toEqual([
      { text: 'It took ' },
      { text: number.replaceAll(' ', '\u00a0'), isNumber: true },
      { text: ' there.' },
    ]);
  });

  it('has a failed test case as plain text, whatever its name', () => {
    expect(cutSentence('1 test file failed: a.rb (waits 5 s (node 3) for a.rb) on node 0.', ['a.rb'])).toEqual([
      { text: '1 test file failed: ' },
      { text: 'a.rb', path: 'a.rb' },
      { text: ' (waits 5 s (node 3) for a.rb)' },
      { text: ' on ' },
      { text: 'node 0', node: 0 },
      { text: '.' },
    ]);
  });

  it('keeps the path of a file as it is, also one that has a duration in it', () => {
    expect(cutSentence('3 s of 9 s: spec/3 s.rb', ['spec/3 s.rb'])).toContainEqual({ text: 'spec/3 s.rb', path: 'spec/3 s.rb' });
  });

  it('without nodes, files and numbers is text', () => {
    expect(cutSentence('All nodes ended together.', [])).toEqual([{ text: 'All nodes ended together.' }]);
    expect(cutSentence('', ['a'])).toEqual([]);
  });
});
