import typia, { type tags } from 'typia';
import type { ValidationErrors } from '../../../http/api-error.js';
import { limits } from '../../../limits.js';
import type { ListedTestFile, TestFileList } from '../test-file.js';
import type { Count, Text, Uuid } from '../text.js';
import { coerce, PARAMETER_REQUIRED, type RawParameters, requireValid } from '../validation.js';
import type { BuildHead } from './minutes.js';

type Seconds = number & tags.Minimum<0> & tags.Maximum<typeof limits.playedSeconds>;
type Nodes = string & tags.MaxLength<typeof limits.textMaxCharacters>;

/** Query of GET /v1/builds/:id/what_if */
export interface WhatIfQuery {
  /** The id of another CI run of the build. */
  ci_run?: Uuid;
  /** A range such as `2..16` or a list such as `4,8,12`: at most 64 numbers from 1 to 1,000. Without it, numbers up to at least twice that of the build. */
  nodes?: Nodes;
  /** Without it, as the build. */
  mode?: 'queue' | 'split';
  /** Default: `then`, or `now` if most of these are guesses or only recordings are known of the build. */
  estimates?: 'then' | 'now' | 'exact';
  /** Seconds over which the nodes start. Without it, as observed. */
  start_spread?: Seconds;
  /** Seconds that a node loses with each batch. Without it, as observed. */
  pull_cost?: Seconds;
  /** The path of a file to play in pieces. It may be repeated. */
  cut?: Text;
}

/** POST /v1/plan */
export interface PlanMessage {
  branch: Text;
  /** See WhatIfQuery. With `within` and without `nodes`, 64 numbers from the least that could be enough. */
  nodes?: Nodes;
  /** Seconds of wall time in which the build should end. */
  within?: Seconds & tags.ExclusiveMinimum<0>;
  /** Default: queue. */
  mode: 'queue' | 'split';
  /** Seconds over which the nodes start. Without it, as in the newest build. */
  start_spread?: Seconds;
  /** Seconds that a node loses with each batch. Without it, as in the newest build. */
  pull_cost?: Seconds;
  /** Without it, the files of the newest build of the branch, else of the project. */
  test_files?: TestFileList<ListedTestFile>;
}

/** One number of nodes. Durations are seconds. */
export interface Variant {
  nodes: Count;
  wall: number;
  /** Sum over the nodes of the time from their start to the end of the last one. */
  node_seconds: number;
  floor: number;
  /** wall / floor */
  ratio: number;
  /** The longest file decides: other nodes wait for it. */
  bound_by_file: boolean;
  /** A real build had this number of nodes: its wall time. */
  measured: number | null;
}

/** What the variants were played with. */
export interface Assumptions {
  mode: 'queue' | 'split';
  /** Seconds over which the nodes start. */
  start_spread: number;
  /** Seconds that a node loses between two batches. */
  pull_cost: number;
  /** `then`: planned with the estimates of that build; `now`: with those of today; `exact`: with the recorded times. */
  estimates: 'then' | 'now' | 'exact';
  /** Files cut into test cases, and into how many pieces. `is_measured`: the times of its cases are known. */
  cut: { path: string; pieces: Count; is_measured: boolean }[];
  sentences: string[];
}

/** GET /v1/builds/:id/what_if */
export interface WhatIfAnswer extends BuildHead {
  assumptions: Assumptions;
  variants: Variant[];
  /** More nodes than these bring nothing. */
  useful_nodes: Count;
  /** The longest file, and what cutting it would bring at today's number of nodes. */
  longest: { path: string; seconds: number } | null;
  /** What other methods would have taken on the same recorded times. */
  baselines: { round_robin: number; by_name: number; one_at_a_time: number };
  /** Files worth cutting: by how many seconds this build would have ended sooner, the largest first, at most 10. */
  worth_cutting: { path: string; seconds: number; saves: number }[];
}

/**
 * POST /v1/plan: the same for a list of test files by today's estimates, or for the files of the newest build. A variant is the mean of
 * several plays, in which files deviate from their estimates as those of the newest build did.
 */
export interface PlanAnswer {
  assumptions: Assumptions;
  files: Count;
  unknown_files: Count;
  /** Sum of the estimates. */
  total: number;
  variants: Variant[];
  useful_nodes: Count;
  longest: { path: string; seconds: number } | null;
  /** With `within`: the least number of nodes that ends in time; null: none does. */
  nodes_within: Count | null;
}

/** What to play, with the numbers of nodes read. */
export type WhatIfRequest = Omit<WhatIfQuery, 'nodes' | 'cut'> & { nodes: number[] | null; cut: string[] };
export type PlanRequest = Omit<PlanMessage, 'nodes'> & { nodes: number[] | null };

const queryNames = typia.misc.literals<keyof WhatIfQuery>();
const messageNames = typia.misc.literals<keyof PlanMessage>();
const validateQuery = typia.createValidate<WhatIfQuery>();
const validateMessage = typia.createValidate<PlanMessage>();

/** @param cut every `cut` of the query */
export function toWhatIfQuery(raw: RawParameters, cut: readonly string[]): WhatIfRequest {
  const parameters = coerce(raw, queryNames);
  // An empty value is that of a form in which nothing was chosen.
  for (const name of queryNames) if (parameters[name] === '') delete parameters[name];
  const query = requireValid(validateQuery(parameters), checkNodes);
  const errors: ValidationErrors = cut.length > limits.cutFiles ? { cut: [`is repeated too often (maximum is ${limits.cutFiles})`] } : {};
  requireValid({ success: true, data: query }, () => errors);
  return { ...query, nodes: readNodes(query.nodes), cut: [...new Set(cut)].filter(path => path !== '') };
}

export function toPlanMessage(raw: RawParameters): PlanRequest {
  const parameters = coerce(raw, messageNames);
  parameters.mode ??= 'queue';
  if (typeof parameters.nodes === 'number') parameters.nodes = String(parameters.nodes);
  const message = requireValid(validateMessage(parameters), sent => ({
    ...checkNodes(sent),
    ...(sent.test_files?.length === 0 && { test_files: [PARAMETER_REQUIRED] }),
  }));
  return { ...message, nodes: readNodes(message.nodes) };
}

function checkNodes({ nodes }: { nodes?: string | undefined }): ValidationErrors {
  if (typeof nodes !== 'string' || numbersIn(nodes) !== null) return {};
  const { playedVariants: most, playedNodes: largest } = limits;
  return { nodes: [`must be a range such as 2..16 or a list such as 4,8,12: at most ${most} whole numbers from 1 to ${largest}`] };
}

function readNodes(nodes: string | undefined): number[] | null {
  return nodes === undefined ? null : numbersIn(nodes);
}

/** The numbers that a range or a list names, ascending; null: it is neither, or names too many. */
function numbersIn(text: string): number[] | null {
  const [, from, to] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(text) ?? [];
  const isList = /^\d{1,9}(,\d{1,9})*$/.test(text);
  if (from === undefined && !isList) return null;
  const count = from === undefined ? 0 : Number(to) - Number(from) + 1;
  if (from !== undefined && (count < 1 || count > limits.playedVariants)) return null;
  const named = from === undefined ? text.split(',').map(Number) : Array.from({ length: count }, (_, i) => Number(from) + i);
  const numbers = [...new Set(named)].sort((a, b) => a - b);
  const isPlayable = numbers.length <= limits.playedVariants && numbers[0]! >= 1 && numbers.at(-1)! <= limits.playedNodes;
  return isPlayable ? numbers : null;
}
