import { describe, expect, it } from 'vitest';
import { ReportError } from '../../../../src/node/reports/report.js';
import { outcomeOf } from '../../../../src/node/reports/test-case.js';
import { readJunit } from '../../../../src/node/reports/xml/junit.js';
import { readFixture } from '../fixture.js';

/** Times of cases with these texts, and the notes about them. */
function timesOf(...texts: string[]) {
  const notes: string[] = [];
  const cases = readJunit(`<testsuite>${texts.map(time => `<testcase time="${time}"/>`).join('')}</testsuite>`, note => notes.push(note));
  return { seconds: cases.map(({ seconds, isUnmeasured }) => (isUnmeasured ? null : seconds)), notes };
}

describe('a JUnit report', () => {
  it('takes the file from a case, its suite or a suite around that', () => {
    const xml =
      '<testsuites><testsuite file="a.rb"><testsuite name="in"><testcase name="1"/><testcase name="2" file="b.rb"/></testsuite></testsuite><testcase name="3"/></testsuites>';
    expect(readJunit(xml).map(({ file, suite }) => [file, suite.name])).toEqual([
      ['a.rb', 'in'],
      ['b.rb', 'in'],
      [null, ''],
    ]);
  });

  it('takes the file of a suite for its siblings without a file, as Cypress writes them', () => {
    const xml =
      '<testsuites><testsuite file="a.js"/><testsuite><testsuite><testcase name="1"/></testsuite></testsuite><testsuite file="b.js"/><testsuite><testcase name="2"/></testsuite></testsuites>';
    expect(readJunit(xml).map(({ file }) => file)).toEqual(['a.js', 'b.js']);
  });

  it('may have cases within a case', () => {
    expect(
      readJunit('<testsuite><testcase name="1"><testcase name="2" time="1"/></testcase><testcase name="3"/></testsuite>').map(
        ({ name }) => name,
      ),
    ).toEqual(['1', '2', '3']);
  });

  it('gets a failed case for a suite that counts failures but has none', () => {
    const xml =
      '<testsuites><testsuite file="a.js" name="a" errors="1"><testcase name="1"/></testsuite><testsuite file="b.js" failures="1"><testsuite failures="1"><testcase name="2"><failure/></testcase></testsuite></testsuite><testsuite failures="" errors="0"/></testsuites>';
    expect(readJunit(xml).map(({ file, name, isFailed }) => [file, name, isFailed])).toEqual([
      ['a.js', '1', false],
      ['a.js', '', true],
      ['b.js', '2', true],
    ]);
  });

  it('may have a suite without cases', () => {
    expect(readJunit('<?xml version="1.0"?><testsuites/>')).toEqual([]);
    expect(readJunit('\ufeff<testsuite name="a"></testsuite>\n')).toEqual([]);
  });

  it.each<[string, string[], (number | null)[]]>([
    ['a point', ['1.5', '.25', '2', '3.', '1e-3'], [1.5, 0.25, 2, 3, 0.001]],
    ['commas between thousands', ['1,043.215', '12,345,678', '1,234.5', '0.5'], [1043.215, 12_345_678, 1234.5, 0.5]],
    ['a decimal comma behind a leading 0', ['0,160', '1,043'], [0.16, 1.043]],
    ['a decimal comma before other than three digits', ['12,5', '0,500000', '2,125'], [12.5, 0.5, 2.125]],
    ['points between thousands', ['1.043,2', '0,03'], [1043.2, 0.03]],
    ['a unit', ['1.5s', '250ms', '1,5 sec'], [1.5, 0.25, 1.5]],
    ['hours and minutes', ['00:01:30.5', '01:30', 'PT1.5S', 'PT1M2S'], [90.5, 90, 1.5, 62]],
    ['nothing, as of tests that did not run', ['', '-1', 'NaN'], [0, 0, 0]],
  ])('may have times with %s', (_, texts, seconds) => {
    expect(timesOf(...texts)).toEqual({ seconds, notes: [] });
  });

  it('has thousands, and says so, where nothing but its times with a comma tells', () => {
    const { seconds, notes } = timesOf('1,043', '2,000', '0.5');
    expect(seconds).toEqual([1043, 2000, 0.5]);
    expect(notes).toEqual(['it has the time "1,043", which is read as 1043 s; if its comma stands before decimals, write a point']);
    expect(timesOf('1,043', '1,043.5').notes).toEqual([]);
  });

  it('names times that cannot be read', () => {
    const { seconds, notes } = timesOf('soon', 'Infinity', '1');
    expect(seconds).toEqual([null, null, 1]);
    expect(notes).toEqual([
      '2 times in it cannot be read, such as "soon": a time is in seconds, such as 1.5; the test files with such times count as run without a time',
    ]);
  });

  it('counts an expected failure as run', () => {
    const xml =
      '<testsuite><testcase><skipped type="pytest.xfail"/></testcase><testcase><skipped type="pytest.skip"/></testcase></testsuite>';
    expect(readJunit(xml).map(outcomeOf)).toEqual(['expected_failure', 'skipped']);
  });

  it('knows the annotation of an expected failure in Playwright, also of one that passed or was skipped', () => {
    const properties = (name: string) => `<properties><property name="${name}" value=""/></properties>`;
    const cases = [properties('fail'), properties('slow'), `${properties('fail')}<failure/>`, `${properties('fail')}<skipped/>`];
    const xml = `<testsuite>${properties('fail')}${cases.map(inside => `<testcase>${inside}</testcase>`).join('')}</testsuite>`;
    expect(readJunit(xml).map(outcomeOf)).toEqual(['expected_failure', 'passed', 'failed', 'skipped']);
  });

  it('counts a module that pytest could not import as failed and not run', () => {
    expect(readJunit(readFixture('pytest-not-imported'))).toMatchObject([{ isFailed: true, isSkipped: true }]);
    const xml = '<testsuite><testcase><error message="failed on setup"/></testcase></testsuite>';
    expect(readJunit(xml)).toMatchObject([{ isFailed: true, isSkipped: false }]);
  });

  it('counts only direct children of a case, and no reruns that passed', () => {
    const xml =
      '<testsuite><testcase><flakyFailure><failure/></flakyFailure><system-out>&lt;failure/&gt; &#27;[31m</system-out></testcase></testsuite>';
    expect(readJunit(xml)).toMatchObject([{ isFailed: false }]);
  });

  it('may have a message of a megabyte', () => {
    const text = 'x'.repeat(1_000_000);
    expect(readJunit(`<testsuite><testcase><failure message="${text}"><![CDATA[${text}]]></failure></testcase></testsuite>`)).toMatchObject(
      [{ isFailed: true }],
    );
  });

  it.each([
    ['is cut off', readFixture('pytest').slice(0, 900), /not well-formed XML: line 1: /],
    ['is of NUnit 3', '<test-run/>', /its first element is <test-run>, of NUnit 3: use TRX instead \(dotnet test --logger trx\)$/],
    ['is of xUnit.net', '<assemblies/>', /its first element is <assemblies>, of xUnit\.net: use TRX instead/],
    ['is named as what all objects have', '<constructor/>', /its first element is <constructor>, not <testsuites>/],
    ['is another document', '<html><body/></html>', /its first element is <html>/],
    ['is empty', '\n', /^it is empty$/],
    ['is no XML', '{"a": 1}', /not well-formed/],
    ['has a mistake in line 2', '<testsuite>\n<testcase></testsuite>', /line 2: /],
    [
      'declares entities',
      '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&c;"/></testsuite>',
      /Invalid character entity/,
    ],
    ['is nested without end', '<testsuite>'.repeat(100_000), /nested deeper than 64/],
  ])('that %s is refused with a reason', (_, xml, reason) => {
    expect(() => readJunit(xml)).toThrow(ReportError);
    expect(() => readJunit(xml)).toThrow(reason);
  });
});
