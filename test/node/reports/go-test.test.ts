import { describe, expect, it } from 'vitest';
import { isGoTest, readGoTest } from '../../../src/node/reports/go-test.js';
import { ListedFiles } from '../../../src/node/reports/known-files.js';
import { collectResults } from '../../../src/node/reports/report-results.js';
import { readFixture } from './fixture.js';

const plain = `--- FAIL: TestAdd (0.20s)
    --- FAIL: TestAdd/two (0.10s)
        cart_test.go:12: got 1 want 2
FAIL
FAIL\texample.com/shop/cart\t0.305s
ok  \texample.com/shop/user\t0.002s
ok  \texample.com/shop/mail\t(cached)
?   \texample.com/shop/model\t[no test files]
FAIL\texample.com/shop/broken [build failed]
FAIL
`;
const events = [
  { Action: 'start', Package: 'example.com/shop/cart' },
  { Action: 'run', Package: 'example.com/shop/cart', Test: 'TestAdd' },
  { Action: 'output', Package: 'example.com/shop/user', Output: 'x' },
  { Action: 'pass', Package: 'example.com/shop/user', Test: 'TestName', Elapsed: 0 },
  { Action: 'fail', Package: 'example.com/shop/cart', Test: 'TestAdd', Elapsed: 0.2 },
  { Action: 'pass', Package: 'example.com/shop/user', Elapsed: 0.002 },
  { Action: 'fail', Package: 'example.com/shop/cart', Elapsed: 0.305 },
  { Action: 'skip', Package: 'example.com/shop/model', Elapsed: 0 },
  { ImportPath: 'example.com/shop/broken', Action: 'build-fail' },
  { Action: 'fail', Package: 'example.com/shop/broken', Elapsed: 0, FailedBuild: 'example.com/shop/broken' },
];
const json = `${events.map(event => JSON.stringify(event)).join('\n')}\n`;
const listed = new ListedFiles(['example.com/shop/cart', './user', 'example.com/shop/model', 'example.com/shop/broken']);

describe('output of go test', () => {
  it.each([
    ['plain', plain],
    ['with -json', json],
    ['with -json, behind what the compiler says', `# example.com/shop/broken\nbroken/b.go:3: undefined: x\n${json}`],
  ])('%s has the time of each package, and its failures', (_, text) => {
    expect(isGoTest(text)).toBe(true);
    expect(Object.fromEntries(collectResults(readGoTest(text), listed).byFile)).toEqual({
      'example.com/shop/cart': { seconds: 0.305, isFailed: true, hasRun: true },
      './user': { seconds: 0.002, isFailed: false, hasRun: true },
      'example.com/shop/model': { seconds: 0, isFailed: false, hasRun: false },
      'example.com/shop/broken': { seconds: 0, isFailed: true, hasRun: true },
    });
  });

  it('from the cache is not measured', () => {
    expect(readGoTest(plain).find(({ suite }) => suite.name.endsWith('mail'))).toMatchObject({
      seconds: 0,
      isFailed: false,
      isSkipped: false,
      isUnmeasured: true,
    });
  });

  it.each([
    ['plain', 'ok  \texample.com/shop/cart\t0.003s [no tests to run]\n'],
    ['plain, with coverage', 'ok  \texample.com/shop/cart\t0.003s\tcoverage: 0.0% of statements [no tests to run]\n'],
    [
      'with -json',
      '{"Action":"output","Package":"example.com/shop/cart","Output":"ok  \\texample.com/shop/cart\\t0.003s [no tests to run]\\n"}\n{"Action":"pass","Package":"example.com/shop/cart","Elapsed":0.003}\n',
    ],
  ])('%s ran no test if -run selected none', (_, text) => {
    expect(Object.fromEntries(collectResults(readGoTest(text), listed).byFile)).toMatchObject({
      'example.com/shop/cart': { isFailed: false, hasRun: false },
    });
  });

  it('with -json ran a package that has benchmarks only', () => {
    const text = '{"Action":"pass","Package":"example.com/shop/cart","Elapsed":2.5}\n';
    expect(collectResults(readGoTest(text), listed).byFile.get('example.com/shop/cart')).toMatchObject({ hasRun: true, seconds: 2.5 });
  });

  it('may have more cases than a function call takes arguments', () => {
    const many = 150_000;
    expect(readGoTest(`${'--- FAIL: T (0.00s)\n'.repeat(many)}FAIL\tshop\t1s\n`)).toHaveLength(many);
    const ended = (more: object) => `${JSON.stringify({ Action: 'fail', Package: 'shop', ...more })}\n`;
    expect(readGoTest(ended({ Test: 'T' }).repeat(many) + ended({}))).toHaveLength(many);
  });

  it('is distinguished from a JUnit report and from anything else', () => {
    expect(isGoTest(readFixture('gotestsum'))).toBe(false);
    expect(isGoTest('hello\n')).toBe(false);
    expect(isGoTest('{"numTotalTests":1}')).toBe(false);
    expect(() => readGoTest('{"Action":"start"}\n{"Action":')).toThrow('line 2');
  });
});
