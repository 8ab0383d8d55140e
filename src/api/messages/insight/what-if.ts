import typia, { type tags } from 'typia';
import type { ValidationErrors } from '../../../http/api-error.js';
import { limits } from '../../../limits.js';
import type { Text, Uuid } from '../../../scalars.js';
import type { ListedTestFile, OptionalText, TestFileList } from '../parameters.js';
import { coerceForm, PARAMETER_REQUIRED, type RawParameters, reader, requireValid } from '../validation.js';

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
  /** Seconds that the job of a node takes before the node starts. They count in `node_seconds`. Without it, the setting of the project, or 0. */
  setup?: Seconds;
  /** Whether long files run in pieces of known test cases, as `ballast queue --pieces` runs them. Without it, as in the build. */
  in_pieces?: boolean;
  /** The path of a file to cut by hand. It may be repeated. Not together with `in_pieces`. */
  cut?: Text;
}

/** Query of GET /v1/trends/node_counts */
export interface NodeCountsQuery {
  /** Without it, the default branch. */
  branch?: OptionalText;
  /** Seconds in which a build should end. Without it, the target of the project. */
  target?: Seconds & tags.ExclusiveMinimum<0>;
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
  /** See WhatIfQuery. */
  setup?: Seconds;
  /** Without it, the files of the newest build of the branch, else of the project. */
  test_files?: TestFileList<ListedTestFile>;
}

const queryNames = typia.misc.literals<keyof WhatIfQuery>();
const validateQuery = typia.createValidate<WhatIfQuery>();
const readMessage = reader(typia.misc.literals<keyof PlanMessage>(), typia.createValidate<PlanMessage>(), {
  complete(parameters) {
    parameters.mode ??= 'queue';
    if (typeof parameters.nodes === 'number') parameters.nodes = String(parameters.nodes);
  },
  check: sent => ({ ...checkNodes(sent), ...(sent.test_files?.length === 0 && { test_files: [PARAMETER_REQUIRED] }) }),
});

export const toNodeCountsQuery = reader(typia.misc.literals<keyof NodeCountsQuery>(), typia.createValidate<NodeCountsQuery>(), {
  isForm: true,
});

/** What to play, with the numbers of nodes read. @param cut every `cut` of the query */
export function toWhatIfQuery(raw: RawParameters, cut: readonly string[]) {
  const query = requireValid(validateQuery(coerceForm(raw, queryNames)), sent => ({
    ...checkNodes(sent),
    ...(sent.in_pieces && cut.length > 0 && { cut: ['cannot be combined with in_pieces'] }),
    ...(cut.length > limits.cutFiles && { cut: [`is repeated too often (maximum is ${limits.cutFiles})`] }),
  }));
  return { ...query, nodes: readNodes(query.nodes), cut: [...new Set(cut)].filter(path => path !== '') };
}

export function toPlanMessage(raw: RawParameters) {
  const message = readMessage(raw);
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
