import typia from 'typia';
import { coerce, type RawParameters } from '../coerce.js';
import type { Count, NodeIndex, OptionalText } from '../text.js';
import { requireValid } from '../validation.js';

/** Query of GET /v1/builds/:id/why */
export interface WhyQuery {
  /** Only the batches of this node. */
  node_index?: NodeIndex;
  /** Only the batch with this number. */
  batch?: Count;
  /** The id of another CI run of the build, see `other_ci_runs` of its minutes. */
  ci_run?: OptionalText;
}

const names = typia.misc.literals<keyof WhyQuery>();
const validate = typia.createValidate<WhyQuery>();

export function toWhyQuery(raw: RawParameters): WhyQuery {
  const parameters = coerce(raw, names);
  // A form also sends its empty fields.
  for (const [name, value] of Object.entries(parameters)) if (value === '') delete parameters[name];
  return requireValid(validate(parameters));
}
