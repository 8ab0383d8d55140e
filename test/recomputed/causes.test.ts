import { expect, it } from 'vitest';
import { Clock } from '../harness/clock.js';
import { SharedServer } from '../harness/server.js';
import { nodes, play, type Situation, suite } from './situations.js';

/** Builds that were lengthened by a known cause: their verdict names that cause or none. */

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });

const files = suite(40);
const many = suite(120);
const path = (i: number) => `spec/file_${String(i).padStart(3, '0')}_spec.rb`;
const times = (factor: number, of: Readonly<Record<string, number>> = files) =>
  Object.fromEntries(Object.entries(of).map(([name, seconds]) => [name, seconds * factor]));

const queue = { mode: 'queue', files, nodes: nodes(4), before: 3 } as const;
const split = { ...queue, mode: 'split' } as const;
const reports = { ...queue, mode: 'reports' } as const;
const few = { ...queue, files: suite(8), nodes: nodes(4) } as const;
const none: string[] = [];

/** By situation: its causes, as CLAIMS has them. The verdict claims no other. `told`: it claims the first one. */
const CAUSES: Record<string, { situation: Situation; causes: string[]; told?: true }> = {
  'nothing, in a queue': { situation: queue, causes: none },
  'nothing, in a split': { situation: split, causes: none },
  'nothing, on 12 nodes': { situation: { ...queue, files: many, nodes: nodes(12) }, causes: none },
  'nothing, with failures': { situation: { ...reports, fails: [path(3), path(30)] }, causes: none },
  'nothing, on more nodes than files': { situation: { ...few, nodes: nodes(10) }, causes: ['a file'] },
  'nothing, and a job that is run again and gets nothing': {
    situation: { ...queue, nodes: nodes(4, { 0: { again: 200 } }) },
    causes: ['rerun 0'],
  },
  'nothing, and a job of a split that is run again': { situation: { ...split, nodes: nodes(4, { 2: { again: 100 } }) }, causes: none },
  'nothing, in the first build': { situation: { ...queue, before: 0 }, causes: ['a file'] },
  'a new file in the first batch': {
    situation: { ...queue, files: { ...files, 'spec/new_spec.rb': 90 }, known: files },
    causes: ['spec/new_spec.rb'],
  },
  'a new file that is longer than an even share': {
    situation: { ...queue, files: { ...files, 'spec/new_spec.rb': 260 }, known: files },
    causes: ['spec/new_spec.rb'],
    told: true,
  },
  'a new file, and a node that was 2 s late': {
    situation: { ...queue, files: { ...many, 'spec/new_spec.rb': 200 }, known: many, nodes: nodes(8, { 3: { start: 1.7 } }) },
    causes: ['spec/new_spec.rb'],
  },
  'a new file on 12 nodes': {
    situation: { ...queue, files: { ...many, 'spec/new_spec.rb': 120 }, known: many, nodes: nodes(12) },
    causes: ['spec/new_spec.rb'],
    told: true,
  },
  'a new file in a split': {
    situation: { ...split, files: { ...files, 'spec/new_spec.rb': 90 }, known: files },
    causes: ['spec/new_spec.rb'],
    told: true,
  },
  'a short file that became long': {
    situation: { ...queue, files: { ...files, [path(20)]: 90 }, known: files },
    causes: [path(20)],
    told: true,
  },
  'a short file that became long, in a split': {
    situation: { ...split, files: { ...files, [path(20)]: 60 }, known: files },
    causes: [path(20)],
    told: true,
  },
  'a short file that became longer than an even share': {
    situation: { ...queue, files: { ...files, [path(20)]: 200 }, known: files },
    causes: [path(20)],
    told: true,
  },
  'two files that became long': {
    situation: { ...queue, files: { ...files, [path(20)]: 80, [path(39)]: 70 }, known: files },
    causes: [path(20), path(39), 'estimates'],
  },
  'a long file that became short': { situation: { ...queue, files: { ...files, [path(2)]: 2 }, known: files }, causes: none },
  'all files became slower': { situation: { ...queue, files: times(1.5), known: files }, causes: none },
  'all files became four times as slow': { situation: { ...queue, files: times(4), known: files }, causes: ['other times'], told: true },
  'a long file': { situation: { ...queue, files: { ...files, 'spec/long_spec.rb': 200 } }, causes: ['spec/long_spec.rb'], told: true },
  'a long file on a slow node': {
    situation: {
      ...split,
      files: { ...files, 'spec/long_spec.rb': 150 },
      nodes: nodes(4, { 0: { slow: 2 }, 1: { slow: 2 }, 2: { slow: 2 }, 3: { slow: 2 } }),
    },
    causes: ['spec/long_spec.rb', 'slow 0'],
  },
  'a node of half the speed': { situation: { ...queue, nodes: nodes(4, { 3: { slow: 2 } }) }, causes: ['slow 3'] },
  'a node of a third of the speed, of few files': {
    situation: { ...few, nodes: nodes(4, { 1: { slow: 3 } }) },
    causes: ['slow 1', 'files of 1', 'unclear'],
  },
  'a node of half the speed, of few files in a split': {
    situation: { ...few, mode: 'split', nodes: nodes(4, { 1: { slow: 2 } }) },
    causes: ['slow 1', 'files of 1', 'unclear'],
  },
  'a node of half the speed in a split': { situation: { ...split, nodes: nodes(4, { 3: { slow: 2 } }) }, causes: ['slow 3'], told: true },
  'a node that is slower by a third in a split': {
    situation: { ...split, nodes: nodes(4, { 0: { slow: 1.3 } }) },
    causes: ['slow 0'],
    told: true,
  },
  'two slow nodes of 12': {
    situation: { ...queue, files: many, nodes: nodes(12, { 2: { slow: 2.5 }, 7: { slow: 2.5 } }) },
    causes: ['slow 2', 'slow 7'],
  },
  'a slow node that came late': {
    situation: { ...split, nodes: nodes(4, { 3: { slow: 1.5, start: 20 } }) },
    causes: ['slow 3', 'late 3'],
    told: true,
  },
  'a late node of a split': { situation: { ...split, nodes: nodes(4, { 2: { start: 30 } }) }, causes: ['late 2'], told: true },
  'a late node of a queue': { situation: { ...queue, nodes: nodes(4, { 2: { start: 30 } }) }, causes: ['late 2'] },
  'a node of a queue that came when nearly all was done': {
    situation: { ...queue, nodes: nodes(4, { 2: { start: 110 } }) },
    causes: ['late 2'],
  },
  'all nodes but one late': {
    situation: { ...queue, nodes: nodes(4, { 1: { start: 40 }, 2: { start: 40 }, 3: { start: 40 } }) },
    causes: ['late'],
    told: true,
  },
  'a late node and a file that became long': {
    situation: { ...split, files: { ...files, [path(20)]: 100 }, known: files, nodes: nodes(4, { 2: { start: 10 } }) },
    causes: [path(20), 'late 2'],
    told: true,
  },
  'a node that dies': { situation: { ...queue, nodes: nodes(4, { 1: { dies: 1 } }) }, causes: ['lost 1'], told: true },
  'a node that dies and comes back': { situation: { ...reports, nodes: nodes(4, { 1: { dies: 1, returns: 30 } }) }, causes: ['again 1'] },
  'a node that dies at once and comes back in four minutes': {
    situation: { ...reports, nodes: nodes(4, { 1: { dies: 0, returns: 240 } }) },
    causes: ['again 1'],
    told: true,
  },
  'a node of a queue that never comes': { situation: { ...queue, nodes: nodes(4, { 3: { start: null } }) }, causes: none },
  'a node of a split that never comes': {
    situation: { ...split, nodes: nodes(4, { 3: { start: null } }) },
    causes: ['absent 3'],
    told: true,
  },
  'a node whose runner starts slowly': { situation: { ...split, nodes: nodes(4, { 2: { batch: 40 } }) }, causes: ['gaps 2'], told: true },
  'a node whose runner starts slowly, in a queue': { situation: { ...queue, nodes: nodes(4, { 2: { batch: 15 } }) }, causes: ['gaps 2'] },
  'runners that start slowly': { situation: { ...queue, batch: 20 }, causes: ['gaps'], told: true },
  'files that take longer than their reports tell': { situation: { ...queue, files: many, hidden: 3 }, causes: ['unreported'], told: true },
  'a late node of which only recordings are known': {
    situation: { ...queue, mode: 'recordings', nodes: nodes(4, { 1: { start: 60 } }) },
    causes: ['late 1'],
  },
  'one node': { situation: { ...queue, nodes: nodes(1) }, causes: none },
  'a build that is cancelled': { situation: { ...queue, until: 40 }, causes: ['lost 0', 'lost 1', 'lost 2', 'lost 3'] },
  'files of the same time on two nodes': { situation: { ...queue, files: times(1, suite(3)), nodes: nodes(2) }, causes: ['gaps'] },
};

const NODES = 'Nodes? (?<nodes>[\\d, ]+)';

/** The causes that sentences claim, by pattern. `$` stands for a node of the group `nodes`. */
const CLAIMS: [RegExp, string][] = [
  [/\(it grew, or the node is slow\)/, 'unclear'],
  [/(?<path>\S+) decides this build: it took [^,]+(?:, \S+ its estimate)?, longer/, ''],
  [/(?<path>\S+) decides this build: it took .* on node (?<nodes>\d+), where files took/, 'slow $'],
  [/: (?<path>\S+) took \S+x its estimate there(?! \()/, ''],
  [/: (?<path>\S+) took .* there, and had not been measured/, ''],
  [/[Nn]ode (?<nodes>\d+) (?:last|finished [^:]+): it took \S+x as long as other nodes/, 'slow $'],
  [/[Nn]ode (?<nodes>\d+) (?:last|finished [^:]+): its last files took \S+x their estimates/, 'files of $'],
  [/[Nn]ode (?<nodes>\d+) (?:last|finished [^:]+): it(?:s first recorded file)? started/, 'late $'],
  [/[Nn]ode (?<nodes>\d+) (?:last|finished [^:]+): it lost .* between/, 'gaps $'],
  [/[Nn]ode (?<nodes>\d+) (?:last|finished [^:]+): it restarted/, 'again $'],
  [/[Nn]ode \d+ (?:last|finished [^:]+): it ran files that nodes? (?<nodes>[\d, ]+) had/, 'lost $'],
  [/: its (?:last )?files took .* in no report/, 'unreported'],
  [/^A file took about .* in no report/, 'unreported'],
  [/^That node started .* late/, 'late'],
  [/was lost to the slow nodes/, 'slow'],
  [/was lost to the wrong estimates/, 'estimates'],
  [/of the build was lost to the late starts/, 'late'],
  [/of the build was lost to the time in no report/, 'unreported'],
  [/of the build was lost to the time between/, 'gaps'],
  [/of the build was lost to the files that ran again/, 'again'],
  [new RegExp(`${NODES} w(as|ere) slow, which cost`), 'slow $'],
  [new RegExp(`${NODES} recorded nothing after`), 'lost $'],
  [new RegExp(`${NODES} recorded nothing[:.]`), 'absent $'],
  [new RegExp(`${NODES} restarted`), 'again $'],
  [new RegExp(`${NODES} started late`), 'late $'],
  [new RegExp(`${NODES} fell silent`), 'lost $'],
  [new RegExp(`${NODES} ran nothing when run again`), 'rerun $'],
  [/^The estimates of the test files were/, 'other times'],
];

/** Sentences that claim no cause. */
const FACTS =
  /^(?:All|The other) nodes finished within |^Nodes? (?:\d+ )?finished [^:]+(?:: node \d+ first, node \d+ last)?\.$|^Nothing stands out: |^One node ran everything|^Later builds learn |^\d+ test files? failed: |^First red after /;

function claimsOf(verdict: string): string[] {
  return verdict.split(/(?<=\.) /).flatMap(sentence => {
    if (FACTS.test(sentence)) return [];
    const claims = CLAIMS.flatMap(([pattern, claim]) => {
      const found = pattern.exec(sentence);
      if (!found) return [];
      const { path: file, nodes: named } = found.groups ?? {};
      return [...(file === undefined ? [] : [file]), ...(named ?? '').split(', ').map(node => claim.replace('$', node))].filter(Boolean);
    });
    return claims.length > 0 ? claims : [`unknown: ${sentence}`];
  });
}

/** Reports whether a claim is one of the causes: without a node, it is about some node. */
const isTrue = (claim: string, causes: readonly string[]) =>
  causes.some(
    cause =>
      cause === claim ||
      (cause === 'a file' && claim.startsWith('spec/')) ||
      cause.replace(/ \d+$/, '') === claim ||
      claim.replace(/ \d+$/, '') === cause,
  );

it.each(Object.entries(CAUSES))(
  'the verdict of a build that was lengthened by %s claims no other cause',
  async (_, { situation, causes, told = false }) => {
    const client = await shared.project();
    await play(client, { server: shared, clock }, situation);
    const { builds } = (await client.get('/v1/build_summaries?limit=1')).json;
    const { verdict } = (await client.get(`/v1/builds/${builds[0].build_id ?? builds[0].ci_run_id}/minutes`)).json;
    const claims = claimsOf(verdict);
    expect({ [verdict]: claims.filter(claim => !isTrue(claim, causes)) }).toEqual({ [verdict]: [] });
    if (told) expect({ [verdict]: claims.some(claim => isTrue(claim, causes.slice(0, 1))) }).toEqual({ [verdict]: true });
  },
);
