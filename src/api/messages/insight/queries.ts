import typia, { type tags } from 'typia';
import type { ValidationErrors } from '../../../http/api-error.js';
import type { limits } from '../../../limits.js';
import { DAY_MILLISECONDS } from '../../../time.js';
import type { Count, NodeIndex, NodeTotal, OptionalText, Path, Uuid } from '../text.js';
import { coerce, type RawParameters, requireValid } from '../validation.js';

/** Query of GET /builds/:id/minutes, /timeline, /forecast and /trace */
export interface CiRunQuery {
  /** Another CI run of the build, by its ci_run_id. Without it, the newest one. */
  ci_run?: Uuid;
}

/** Query of GET /v1/builds/:id/why */
export interface WhyQuery {
  /** Only the batches of this node. */
  node_index?: NodeIndex;
  /** Only the batch with this number. */
  batch?: Count;
  /** The id of another CI run of the build, see `other_ci_runs` of its minutes. */
  ci_run?: OptionalText;
}

/** Query of GET /v1/build_summaries */
export interface BuildLinesQuery {
  branch?: OptionalText;
  commit_hash?: OptionalText;
  node_total?: NodeTotal;
  /** Only builds with files that failed, as far as the clients report them. */
  failed?: boolean;
  /** `next` of the answer before. */
  cursor?: string & tags.Pattern<'^[0-9a-z]{1,10}$'>;
  limit?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.buildLinesPerPage>;
}

/** Query of GET /v1/trends/builds */
export interface BuildTrendQuery {
  /** Without it, all branches together. */
  branch?: OptionalText;
  /** As 2026-11-22, UTC, both included. Without them, the last eight weeks. */
  from?: string & tags.Format<'date'>;
  to?: string & tags.Format<'date'>;
  /** A week begins on Monday, and has the date of that day. */
  by?: 'day' | 'week';
}

/** Query of GET /v1/trends/files */
export interface FileTrendsQuery {
  /** Without it, the default branch. */
  branch?: OptionalText;
  /** Only files with this text in their paths, in upper or lower case. */
  path?: OptionalText;
  /** What comes first: the slowest, the most variable, those that grew by most seconds, those that decided most builds; or by path. */
  sort?: 'median' | 'spread' | 'growth' | 'decided' | 'path';
  offset?: Count;
  limit?: number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.trendFilesPerPage>;
}

/** Query of GET /v1/trends/files/history */
export interface FileHistoryQuery {
  path: Path;
  /** Without it, the default branch. */
  branch?: OptionalText;
}

/** Query of GET /v1/trends/nodes */
export interface NodeTrendsQuery {
  /** Without it, all branches. */
  branch?: OptionalText;
  /** Without it, that of the newest build. */
  node_total?: NodeTotal;
}

const names = {
  ciRun: typia.misc.literals<keyof CiRunQuery>(),
  why: typia.misc.literals<keyof WhyQuery>(),
  lines: typia.misc.literals<keyof BuildLinesQuery>(),
  builds: typia.misc.literals<keyof BuildTrendQuery>(),
  files: typia.misc.literals<keyof FileTrendsQuery>(),
  history: typia.misc.literals<keyof FileHistoryQuery>(),
  nodes: typia.misc.literals<keyof NodeTrendsQuery>(),
};
const validateCiRun = typia.createValidate<CiRunQuery>();
const validateWhy = typia.createValidate<WhyQuery>();
const validateLines = typia.createValidate<BuildLinesQuery>();
const validateBuilds = typia.createValidate<BuildTrendQuery>();
const validateFiles = typia.createValidate<FileTrendsQuery>();
const validateHistory = typia.createValidate<FileHistoryQuery>();
const validateNodes = typia.createValidate<NodeTrendsQuery>();

export function toCiRunQuery(raw: RawParameters): CiRunQuery {
  return requireValid(validateCiRun(filled(raw, names.ciRun)));
}

export function toWhyQuery(raw: RawParameters): WhyQuery {
  return requireValid(validateWhy(filled(raw, names.why)));
}

export function toBuildLinesQuery(raw: RawParameters): BuildLinesQuery {
  return requireValid(validateLines(filled(raw, names.lines)));
}

export function toBuildTrendQuery(raw: RawParameters): BuildTrendQuery {
  return requireValid(validateBuilds(filled(raw, names.builds)), checkDays);
}

export function toFileTrendsQuery(raw: RawParameters): FileTrendsQuery {
  return requireValid(validateFiles(filled(raw, names.files)));
}

export function toFileHistoryQuery(raw: RawParameters): FileHistoryQuery {
  return requireValid(validateHistory(filled(raw, names.history)));
}

export function toNodeTrendsQuery(raw: RawParameters): NodeTrendsQuery {
  return requireValid(validateNodes(filled(raw, names.nodes)));
}

/** A form also sends its empty fields, which do not filter. */
function filled(raw: RawParameters, known: readonly string[]): Record<string, unknown> {
  const parameters = coerce(raw, known);
  for (const [name, value] of Object.entries(parameters)) if (value === '') delete parameters[name];
  return parameters;
}

/** The day of a date in whole days since 1970; NaN: there is no such day. */
export function dayOfDate(date: string): number {
  const time = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date ? NaN : time / DAY_MILLISECONDS;
}

function checkDays({ from, to }: Partial<BuildTrendQuery>): ValidationErrors {
  const errors: ValidationErrors = {};
  for (const [name, date] of Object.entries({ from, to })) {
    if (typeof date === 'string' && Number.isNaN(dayOfDate(date))) errors[name] = ['is not a day, such as 2026-11-22'];
  }
  return errors;
}
