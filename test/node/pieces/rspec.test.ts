import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { rspec } from '../../../src/node/pieces/rspec.js';
import { outcomeText, PieceProject, ran } from './piece-project.js';

const hasRspec = spawnSync('rspec', ['--version']).status === 0;

const project = (files: Readonly<Record<string, string>>, ...args: string[]) => new PieceProject(rspec, ['rspec', ...args], files);

/** A project with one file, whose one group has some examples. */
const described = (examples: string) => project({ 'a_spec.rb': `RSpec.describe('a') do\n${examples}\nend` });

const outcomes = ({ report }: Awaited<ReturnType<PieceProject['run']>>) =>
  report!.cases.map(({ name, outcomes }) => `${name}: ${outcomeText(outcomes)}`);

const HOSTILE = {
  '.rspec': '--require ./spec/shapes\n--tag ~slow\n',
  'spec/shapes.rb': `
RSpec.shared_examples('a shape') { |n| it('has an area') { expect(n).to eq 1 }; it { expect(n).to be_odd } }
def check(name)
  RSpec.describe("checked #{name}") { it('one') {}; it('two') {} }
end
`,
  'spec/other_spec.rb': `RSpec.describe('other') { it('is required') {} }`,
  'spec/hostile_spec.rb': `# encoding: utf-8
require_relative 'other_spec'
check 'here'
RSpec.describe 'top' do
  ["it's", 'a"b', "a\\nb", '[1:2]', '$HOME', '\`id\`', 'ünï€', '日本', '', ' ', '\\\\', "a\\xff", "\\xfe".b].each { |text| it(text) {} }
  it('twice') {}
  it('twice') {}
  it { expect(1).to eq 1 }
  it { expect(2).to eq 2 }
  it('is slow', :slow) {}
  it('pends') { pending; expect(1).to eq 2 }
  it('pends no more') { pending }
  xit('is not run') {}
  it('skips') { skip }
  it('fails') { expect(1).to eq 2 }
  include_examples 'a shape', 1
  it_behaves_like 'a shape', 1
  it_behaves_like 'a shape', 2
  context 'broken' do
    before(:context) { raise 'no' }
    it('one') {}
    context('inside') { it('two') {} }
  end
  context 'prepared' do
    before(:all) { @n = 1 }
    it('one') { expect(@n).to eq 1 }
    it('two') { expect(@n).to eq 1 }
  end
  it('has its environment') { expect(ENV['SPEC_OPTS']).to be_nil }
end
`,
};

const MISSING = 'the tests of pieces of RSpec do not run: there is no rspec; "apt-get install ruby-rspec" installs it';
if (!hasRspec) {
  process.stderr.write(`\n  ${MISSING}\n\n`);
  it.skip(MISSING);
}

describe.skipIf(!hasRspec)('pieces of RSpec', { timeout: 120_000 }, () => {
  it('run each case of a file once, whatever it is named and wherever it is written', async () => {
    const outcomes = await project(HOSTILE, '--order', 'rand').expectSamePieces('spec/hostile_spec.rb');
    expect(outcomes).toMatchObject({
      'other is required': 'passed',
      'checked here two': 'passed',
      "top it's": 'passed',
      'top a\nb': 'passed',
      'top a\ufffd': 'passed',
      'top twice': '2 passed',
      'top pends': 'expected_failure',
      'top pends no more': 'failed',
      'top is not run': 'skipped',
      'top skips': 'skipped',
      'top fails': 'failed',
      'top has an area': 'passed',
      'top behaves like a shape has an area': '1 failed, 1 passed',
      'top broken one': 'failed',
      'top broken inside two': 'failed',
      'top prepared two': 'passed',
      'top has its environment': 'passed',
    });
    expect(outcomes).not.toHaveProperty('top is slow');
  });

  it('tell how many examples of a case ended in each way', async () => {
    const suite = described(`
  it('one') { $is_ready = true }
  it('twice') {}
  it('twice') { skip unless $is_ready }
  it('fails') { raise }
  it('fails') { skip }
`);
    expect(outcomes(await suite.run('a_spec.rb', null))).toEqual(['a one: passed', 'a twice: 2 passed', 'a fails: 1 failed, 1 skipped']);
    expect(outcomes(await suite.run('a_spec.rb', { cases: ['a twice'] }))).toEqual(['a twice: 1 passed, 1 skipped']);
  });

  it('tell a case that is pending only in a piece', async () => {
    const suite = described(`
  it('one') { $is_ready = true }
  it('two') { pending unless $is_ready; expect($is_ready).to be true }
`);
    expect(outcomes(await suite.run('a_spec.rb', null))).toEqual(['a one: passed', 'a two: passed']);
    expect(outcomes(await suite.run('a_spec.rb', { cases: ['a two'] }))).toEqual(['a two: expected_failure']);
  });

  it.each([
    ['removes all temporary files', `require 'fileutils'; FileUtils.rm_rf(Dir["it's*"])`],
    ['fills the disk', `trap('XFSZ', 'IGNORE'); Process.setrlimit(Process::RLIMIT_FSIZE, 0)`],
    ['ends the process', 'exit!(0)'],
  ])('tell nothing, and change no exit code, if a test %s', async (_, content) => {
    const suite = described(`it('one') { ${content} }`);
    const { code, report, output } = await suite.run('a_spec.rb', { cases: ['a one'] });
    expect({ code, report }, output).toEqual({ code: 0, report: undefined });
  });

  it('tell each case once if a test forks the process or changes its folder', async () => {
    const suite = described(`
  it('one') { (process = fork) ? Process.wait(process) : exit(0) }
  it('two') { Dir.chdir('/') }
`);
    expect(outcomes(await suite.run('a_spec.rb', null))).toEqual(['a one: passed', 'a two: passed']);
  });

  it('run the whole file if they cannot be read', async () => {
    await described(`it('one') {}; it('two') {}`).expectWholeWithoutPiece('a_spec.rb', ['a one', 'a two']);
  });

  it('tell nothing of a case if one of its examples did not run', async () => {
    const suite = described(`2.times { it('twice') { RSpec.world.wants_to_quit = true } }`);
    expect(ran(await suite.run('a_spec.rb', null))).toEqual([]);
  });

  it('leave new and renamed cases to the rest', async () => {
    const suite = described(`it('is new') {}; it('one') {}; it('is renamed') {}`);
    expect(ran(await suite.run('a_spec.rb', { cases: ['a one'] }))).toEqual(['a one']);
    expect(ran(await suite.run('a_spec.rb', { others: ['a one', 'a two'] }))).toEqual(['a is new', 'a is renamed']);
  });

  it('run nothing if their cases are gone, even if the project wants to run all then', async () => {
    const suite = project({
      '.rspec': '--require ./helper\n',
      'helper.rb': `RSpec.configure { |config| config.run_all_when_everything_filtered = true; config.filter_run :focus }`,
      'a_spec.rb': `RSpec.describe('a') { it('one') {}; it('two') {} }`,
    });
    const listed = new Set(['a one', 'a two']);
    expect(await suite.run('a_spec.rb', { cases: ['a three'] })).toMatchObject({ code: 0, report: { cases: [], listed } });
    expect(await suite.expectSamePieces('a_spec.rb')).toEqual({ 'a one': 'passed', 'a two': 'passed' });
  });

  it.each(['config.run_all_when_everything_filtered = true; config.filter_run :focus', 'config.filter_run_when_matching :focus'])(
    'have only the cases that a filter of the project leaves: %s',
    async filter => {
      const suite = project({
        '.rspec': '--require ./helper\n',
        'helper.rb': `RSpec.configure { |config| ${filter} }`,
        'a_spec.rb': `RSpec.describe('a') { it('one') {}; it('two') {}; fit('three') {}; fit('four') {} }`,
      });
      expect(await suite.expectSamePieces('a_spec.rb')).toEqual({ 'a three': 'passed', 'a four': 'passed' });
      expect(ran(await suite.run('a_spec.rb', { cases: ['a one', 'a three'] }))).toEqual(['a three']);
      expect(ran(await suite.run('a_spec.rb', { cases: ['a one'] }))).toEqual([]);
    },
  );

  it.each([
    ['-e', 'one'],
    ['--tag', 'quick'],
  ])('choose among what %s %s chooses', async (...args) => {
    const suite = described(`it('one', :quick) {}; it('one more', :quick) {}; it('two') {}`);
    expect(await suite.expectSamePieces('a_spec.rb', args)).toEqual({ 'a one': 'passed', 'a one more': 'passed' });
    expect(ran(await suite.run('a_spec.rb', { others: ['a one'] }, args))).toEqual(['a one more']);
  });

  it('tell nothing of a file that cannot be loaded, and run no case of a dry run', async () => {
    const suite = project({ 'a_spec.rb': 'nothing_like_this', 'b_spec.rb': `RSpec.describe('b') { it('one') {} }` });
    expect(await suite.run('a_spec.rb', { others: [] })).toMatchObject({ code: 1, report: undefined });
    expect((await suite.run('b_spec.rb', null, ['--dry-run'])).report).toEqual({ cases: [], listed: new Set(['b one']) });
  });
});
