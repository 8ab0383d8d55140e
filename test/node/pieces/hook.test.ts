import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Piece, PieceRunner } from '../../../src/node/pieces/piece.js';
import { pytest } from '../../../src/node/pieces/pytest.js';
import { rspec } from '../../../src/node/pieces/rspec.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const NAMES = ["it's", 'a"b', 'a\nb', 'a[0]', '$HOME `id`', 'ünï€ 🎉', '\\', ''];

const asked = (runner: PieceRunner, piece: Partial<Piece> | null) => {
  const folder = temporaryFolder();
  runner.select(
    piece && { path: '', file: '/no/such.file', cases: [], others: null, outcomes: new Map(), isTrial: false, ...piece },
    folder,
    {},
  );
  return JSON.parse(readFileSync(join(folder, 'piece.json'), 'utf8')) as unknown;
};

describe.each([
  ['pytest', pytest],
  ['RSpec', rspec],
])('pieces of %s', (_, runner) => {
  it('ask for exactly the names of the piece, or for all but those of the others', () => {
    expect(asked(runner, { cases: NAMES })).toEqual({ file: '/no/such.file', names: NAMES, isRest: false });
    expect(asked(runner, { cases: ['known'], others: NAMES })).toEqual({ file: '/no/such.file', names: NAMES, isRest: true });
    expect(asked(runner, { others: [] })).toEqual({ file: '/no/such.file', names: [], isRest: true });
    expect(asked(runner, null)).toBeNull();
  });

  it('add up what several processes reported, by the real path of each file', () => {
    const folder = temporaryFolder();
    const real = join(realpathSync(folder), 'real');
    mkdirSync(real);
    symlinkSync(real, join(folder, 'link'));
    writeFileSync(join(real, 'a'), '');
    const tell = (process: number, listed: string[], cases: [string, object, number][]) =>
      writeFileSync(join(folder, `cases-${process}.json`), JSON.stringify({ [join(real, 'a')]: { listed, cases } }));
    tell(1, ['one', 'two'], []);
    tell(2, ['one', 'three'], [['one', { passed: 1 }, 1]]);
    tell(3, ['one'], [['one', { failed: 1, passed: 1 }, 2]]);
    const file = join(folder, 'link/a');
    const report = new Map([
      [file, { cases: [{ name: 'one', outcomes: { passed: 2, failed: 1 }, seconds: 3 }], listed: new Set(['one', 'two', 'three']) }],
    ]);
    expect(runner.reportsOf([file, join(folder, 'b')], new Map(), folder)).toEqual(report);
  });

  it('tell nothing if a process began and reported nothing, or only half of it', () => {
    for (const text of ['', '{"/a":{"listed":["one"],"cases":[["one",{"pass']) {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'cases-1.json'), JSON.stringify({ '/a': { listed: ['one'], cases: [] } }));
      expect(runner.reportsOf(['/a'], new Map(), folder)?.size).toBe(1);
      writeFileSync(join(folder, 'cases-2.json'), text);
      expect(runner.reportsOf(['/a'], new Map(), folder)).toBeNull();
    }
  });

  it('tell nothing if no process loaded the hook or had the file, or if the folder is gone', () => {
    const folder = temporaryFolder();
    runner.select(null, folder, {});
    expect(runner.reportsOf(['a'], new Map(), folder)).toBeNull();
    writeFileSync(join(folder, 'cases-1.json'), JSON.stringify({ '/in/a/container/a': { listed: ['one'], cases: [] } }));
    expect(runner.reportsOf(['a'], new Map(), folder)).toBeNull();
    expect(runner.reportsOf(['a'], new Map(), join(folder, 'gone'))).toBeNull();
  });
});

describe('the environment of a command', () => {
  it('keeps what it had', () => {
    const folder = temporaryFolder();
    expect(pytest.select(null, folder, {})).toEqual({
      args: [],
      environment: { PYTEST_ADDOPTS: '-p ballast_piece', PYTHONPATH: folder },
    });
    expect(pytest.select(null, folder, { PYTEST_ADDOPTS: '-x "a b"', PYTHONPATH: 'src:lib' })?.environment).toEqual({
      PYTEST_ADDOPTS: '-p ballast_piece -x "a b"',
      PYTHONPATH: `${folder}:src:lib`,
    });
    expect(rspec.select(null, folder, { SPEC_OPTS: '--tag "a b"' })?.environment).toEqual({
      SPEC_OPTS: `--require '${folder}/ballast_piece.rb' --tag "a b"`,
    });
  });

  it('names a folder with spaces and quotes for the shell', () => {
    const folder = join(temporaryFolder(), "it's here");
    mkdirSync(folder);
    const path = `${folder.replace("'", `'\\''`)}/ballast_piece.rb`;
    expect(rspec.select(null, folder, {})?.environment).toEqual({ SPEC_OPTS: `--require '${path}'` });
  });
});
