import typia from 'typia';
import { DAY_MILLISECONDS } from '../../../base/time.js';
import type {
  BuildLinesQuery,
  BuildTrendQuery,
  CiRunQuery,
  ComparisonQuery,
  FileHistoryQuery,
  FileTrendsQuery,
  FlakyQuery,
  NodeTrendsQuery,
  TraceQuery,
  WhyQuery,
} from '../../../protocol/messages/queries.js';
import type { ValidationErrors } from '../../http/api-error.js';
import { reader } from './validation.js';

const form = { isForm: true };
const dated = { ...form, check: checkDays };
export const toCiRunQuery = reader(typia.misc.literals<keyof CiRunQuery>(), typia.createValidate<CiRunQuery>(), form);
export const toComparisonQuery = reader(typia.misc.literals<keyof ComparisonQuery>(), typia.createValidate<ComparisonQuery>(), form);
export const toTraceQuery = reader(typia.misc.literals<keyof TraceQuery>(), typia.createValidate<TraceQuery>(), form);
export const toWhyQuery = reader(typia.misc.literals<keyof WhyQuery>(), typia.createValidate<WhyQuery>(), form);
export const toBuildLinesQuery = reader(typia.misc.literals<keyof BuildLinesQuery>(), typia.createValidate<BuildLinesQuery>(), dated);
export const toBuildTrendQuery = reader(typia.misc.literals<keyof BuildTrendQuery>(), typia.createValidate<BuildTrendQuery>(), dated);
export const toFileTrendsQuery = reader(typia.misc.literals<keyof FileTrendsQuery>(), typia.createValidate<FileTrendsQuery>(), form);
export const toFileHistoryQuery = reader(typia.misc.literals<keyof FileHistoryQuery>(), typia.createValidate<FileHistoryQuery>(), form);
export const toFlakyQuery = reader(typia.misc.literals<keyof FlakyQuery>(), typia.createValidate<FlakyQuery>(), form);
export const toNodeTrendsQuery = reader(typia.misc.literals<keyof NodeTrendsQuery>(), typia.createValidate<NodeTrendsQuery>(), form);

/** The day of a date in whole days since 1970; NaN: there is no such day. */
export function dayOfDate(date: string): number {
  const time = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date ? NaN : time / DAY_MILLISECONDS;
}

function checkDays({ from, to }: Pick<Partial<BuildTrendQuery>, 'from' | 'to'>): ValidationErrors {
  const errors: ValidationErrors = {};
  for (const [name, date] of Object.entries({ from, to })) {
    if (typeof date === 'string' && Number.isNaN(dayOfDate(date))) errors[name] = ['is not a day, such as 2026-11-22'];
  }
  return errors;
}
