import typia from 'typia';
import { limits } from '../../../protocol/limits.js';
import type { NodeCountsQuery, PlanMessage, WhatIfQuery } from '../../../protocol/messages/plan.js';
import type { ValidationErrors } from '../../http/api-error.js';
import { coerceForm, PARAMETER_REQUIRED, type RawParameters, reader, requireValid } from './validation.js';

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

/** Reads the changes to play, with the numbers of nodes read. @param cut every `cut` of the query */
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
