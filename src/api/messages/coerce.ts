/**
 * What parameters may come as: client programs send integers and booleans as strings, ids as numbers.
 * typia checks strictly after this table.
 */
const coercions: Readonly<Record<string, (value: unknown) => unknown>> = {
  node_total: toInteger,
  node_index: toInteger,
  batch_index: toInteger,
  batch_id: toInteger,
  page: toInteger,
  wait: toInteger,
  fixed_test_suite_split: toBoolean,
  cache_read_attempt: toBoolean,
  can_initialize_queue: toBoolean,
  attempt_connect_to_queue: toBoolean,
  fixed_queue_split: toBoolean,
  skip_pull: toBoolean,
  wants_times: toBoolean,
  ci_build_id: toId,
  node_build_id: toId,
  test_queue_id: toId,
};

/** Parameters as they were sent. */
export type RawParameters = Readonly<Record<string, unknown>>;

/**
 * The named parameters: null ones left out, strings turned into what they stand for and well-formed (half a
 * surrogate pair has no UTF-8). All others end here, however many and however deep.
 */
export function coerce(sent: RawParameters, names: readonly string[]): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  for (const name of names) {
    const value = Object.hasOwn(sent, name) ? sent[name] : null;
    if (value === null || value === undefined) continue;
    parameters[name] = coercions[name]?.(value) ?? (typeof value === 'string' ? value.toWellFormed() : value);
  }
  return parameters;
}

function toInteger(value: unknown): unknown {
  const number = typeof value === 'string' && /^\s*-?\d{1,300}(\.\d{1,300})?\s*$/.test(value) ? Number(value) : value;
  // -0 is 0, but not as a key.
  return number === 0 ? 0 : number;
}

function toBoolean(value: unknown): unknown {
  if (value === 'true') return true;
  if (value === 'false') return false;
  return value;
}

function toId(value: unknown): unknown {
  // Beyond 2^53 different ids would become the same.
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' ? value.toWellFormed() : value;
}
