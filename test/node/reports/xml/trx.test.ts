import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ListedFiles } from '../../../../src/node/reports/known-files.js';
import { OtherXml, ReportError } from '../../../../src/node/reports/report.js';
import { collectResults } from '../../../../src/node/reports/report-results.js';
import { readTrx } from '../../../../src/node/reports/xml/trx.js';
import { fixturePath } from '../fixture.js';

const run = (results: string, definitions = '', outcome = 'Completed') =>
  `<TestRun><Results>${results}</Results><TestDefinitions>${definitions}</TestDefinitions><ResultSummary outcome="${outcome}"/></TestRun>`;

describe('test results of Visual Studio', () => {
  it('have the times of classes, each with its nested ones, and their failures', () => {
    const listed = new ListedFiles(['Shop.Tests.CartTests', 'Shop.Tests.UserTests', 'Shop.Tests.LaterTests']);
    const { byFile, unmatched } = collectResults(readTrx(readFileSync(fixturePath('vstest.trx'), 'utf8')), listed);
    expect(unmatched).toEqual([]);
    expect(Object.fromEntries(byFile)).toEqual({
      'Shop.Tests.CartTests': { seconds: 61.75, isFailed: true, hasRun: true },
      'Shop.Tests.UserTests': { seconds: 0.7, isFailed: false, hasRun: true },
      'Shop.Tests.LaterTests': { seconds: 0, isFailed: false, hasRun: false },
    });
  });

  it.each([
    ['a day and more', '1.02:03:04.5', 93_784.5],
    ['a negative time', '-00:00:01', 0],
    ['a number', '12', 0],
    ['no number', 'NaN', 0],
    ['a long text', '1'.repeat(100_000), 0],
    ['nothing', '', 0],
  ])('may have %s for a duration', (_, duration, seconds) => {
    expect(readTrx(run(`<UnitTestResult duration="${duration}" outcome="Passed"/>`))).toMatchObject([{ seconds }]);
  });

  it('add up the rows of data of a test whose own result has no time', () => {
    const row = '<UnitTestResult duration="00:00:02" outcome="Passed"/>';
    expect(readTrx(run(`<UnitTestResult outcome="Passed"><InnerResults>${row}${row}</InnerResults></UnitTestResult>${row}`))).toMatchObject(
      [{ seconds: 4 }, { seconds: 2 }],
    );
  });

  it.each([
    ['Passed', false, false],
    ['Inconclusive', false, false],
    ['NotExecuted', false, true],
    ['Failed', true, false],
    ['Timeout', true, false],
    ['Aborted', true, false],
    ['InProgress', true, false],
    ['', true, false],
  ])('with the outcome %j are failed: %s, skipped: %s', (outcome, isFailed, isSkipped) => {
    expect(readTrx(run(`<UnitTestResult outcome="${outcome}"/>`))).toMatchObject([{ isFailed, isSkipped }]);
  });

  it('get a failed case if the run failed without one, as after a crash', () => {
    const result = '<UnitTestResult outcome="Passed"/>';
    expect(readTrx(run(result, '', 'Failed'))).toMatchObject([{ isFailed: false }, { isFailed: true, name: 'the test run' }]);
    expect(readTrx(run(result))).toHaveLength(1);
  });

  it('may lack definitions, or have them without a class', () => {
    const definition = '<UnitTest id="1"><TestMethod/></UnitTest><TestMethod className="x"/>';
    const cases = readTrx(run('<UnitTestResult testId="1" outcome="Passed"/><UnitTestResult testId="2" outcome="Passed"/>', definition));
    expect(cases.map(({ classname }) => classname)).toEqual(['', '']);
  });

  it.each([
    ['are cut off', '<TestRun><Results>', /not well-formed/],
    ['are empty', '', /not well-formed|no <TestRun>/],
    [
      'declare entities',
      '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><TestRun><Results><UnitTestResult testName="&b;"/></Results></TestRun>',
      /Invalid character entity/,
    ],
    ['are nested without end', `<TestRun>${'<UnitTestResult>'.repeat(100_000)}`, /nested deeper than 64/],
  ])('that %s are refused with a reason', (_, xml, reason) => {
    expect(() => readTrx(xml)).toThrow(ReportError);
    expect(() => readTrx(xml)).toThrow(reason);
  });

  it('are told from other XML', () => {
    expect(() => readTrx('<testsuites/>')).toThrow(OtherXml);
  });
});
