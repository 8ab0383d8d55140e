/**
 * Conversions by parameter: clients may send integers and booleans as strings, and ids as numbers. typia then checks strictly.
 */
const coercions: Readonly<Record<string, (value: unknown) => unknown>> = {
  node_total: toInteger,
  node_index: toInteger,
  batch_index: toInteger,
  batch_id: toInteger,
  batch: toInteger,
  page: toInteger,
  wait: toInteger,
  limit: toInteger,
  offset: toInteger,
  failed: toBoolean,
  allow_empty: toBoolean,
  within: toNumber,
  start_spread: toNumber,
  pull_cost: toNumber,
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

/** Parameters as they were sent, not validated. */
export type RawParameters = Readonly<Record<string, unknown>>;

/**
 * Picks the named parameters, drops those that are null, and converts the others. Strings are made well-formed, because half a surrogate
 * pair has no UTF-8. All other parameters are ignored, whatever their number and depth.
 */
export function coerce(raw: RawParameters, names: readonly string[]): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  for (const name of names) {
    const value = Object.hasOwn(raw, name) ? raw[name] : null;
    if (value === null || value === undefined) continue;
    parameters[name] = coercions[name]?.(value) ?? (typeof value === 'string' ? value.toWellFormed() : value);
  }
  return parameters;
}

function toInteger(value: unknown): unknown {
  const number = typeof value === 'string' && /^\s*-?\d{1,300}(\.\d{1,300})?\s*$/.test(value) ? Number(value) : value;
  // Turns -0 into 0: as keys they would differ.
  return number === 0 ? 0 : number;
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\s*-?\d{1,300}(\.\d{1,300})?\s*$/.test(value) ? Number(value) : value;
}

function toBoolean(value: unknown): unknown {
  if (value === 'true') return true;
  if (value === 'false') return false;
  return value;
}

function toId(value: unknown): unknown {
  // Beyond 2^53, JSON.parse may round different ids to the same number.
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' ? value.toWellFormed() : value;
}
