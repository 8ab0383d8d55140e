/**
 * Client programs differ in JSON types: integers and booleans come as strings, ids as numbers,
 * absent parameters as null. One table of what may come so; typia checks strictly after it.
 */
const coercions: Readonly<Record<string, (value: unknown) => unknown>> = {
  node_total: toInteger,
  node_index: toInteger,
  page: toInteger,
  fixed_test_suite_split: toBoolean,
  cache_read_attempt: toBoolean,
  can_initialize_queue: toBoolean,
  attempt_connect_to_queue: toBoolean,
  fixed_queue_split: toBoolean,
  skip_pull: toBoolean,
  ci_build_id: toId,
  node_build_id: toId,
};

export type Parameters = Record<string, unknown>;

/** A copy with null parameters left out and strings turned into what they stand for. */
export function coerce(parameters: object): Parameters {
  const coerced: Parameters = {};
  for (const [name, value] of Object.entries(parameters)) {
    // A key of this name would set the prototype; no parameter is called so.
    if (value === null || name === '__proto__') continue;
    coerced[name] = Object.hasOwn(coercions, name) ? coercions[name]!(value) : value;
  }
  return coerced;
}

function toInteger(value: unknown): unknown {
  return typeof value === 'string' && /^\s*-?\d{1,15}(\.\d+)?\s*$/.test(value) ? Number(value) : value;
}

function toBoolean(value: unknown): unknown {
  if (value === 'true') return true;
  if (value === 'false') return false;
  return value;
}

function toId(value: unknown): unknown {
  return Number.isInteger(value) ? String(value) : value;
}
