import { expect, it } from 'vitest';
import { pieceSupport } from '../../../src/node/pieces/runners.js';

it.each([
  [['go', 'test', '{}'], { GOFLAGS: '-race -run=TestA' }, '-run=TestA in GOFLAGS'],
  [['go', 'test', '{}'], { GOFLAGS: "'-skip=A B'" }, '-skip=A in GOFLAGS'],
  [['sh', '-c', 'GOFLAGS="-v -skip=Slow" go test "$@"', 'sh', '{}'], {}, '-skip=Slow in GOFLAGS'],
  [['env', 'GOFLAGS=-run=A', 'go', 'test', '{}'], {}, '-run=A in GOFLAGS'],
  [['npx', 'playwright', 'test', '--test-list', 'smoke.txt'], {}, '--test-list in the command'],
] as const)('refuses %j with %j, whose selection a piece would replace', (command, environment, conflict) => {
  expect(pieceSupport(command, ['r.xml'], { PATH: '', ...environment })).toEqual({
    what: `--pieces and ${conflict} both select test cases`,
    remedy: 'leave out one of them',
  });
});

it.each([
  [['go', 'test', '{}'], { GOFLAGS: '-mod=vendor -tags=run' }],
  [['sh', '-c', 'lint -run all; GOFLAGS=-race go test "$@"', 'sh', '{}'], {}],
  [['npx', 'playwright', 'test', '--test-list', '{file}', '--grep', 'a'], { GOFLAGS: '-run=A' }],
] as const)('runs pieces of %j with %j', (command, environment) => {
  expect(pieceSupport(command, ['r.xml'], { PATH: '', ...environment })).toHaveProperty('runner');
});
