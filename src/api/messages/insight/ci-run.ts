import typia from 'typia';
import { coerce, type RawParameters } from '../coerce.js';
import type { Uuid } from '../text.js';
import { requireValid } from '../validation.js';

/** Query of GET /builds/:id/minutes, /timeline, /forecast and /trace */
export interface CiRunQuery {
  /** Another CI run of the build, by its ci_run_id. Without it, the newest one. */
  ci_run?: Uuid;
}

const names = typia.misc.literals<keyof CiRunQuery>();
const validate = typia.createValidate<CiRunQuery>();

export function toCiRunQuery(raw: RawParameters): CiRunQuery {
  const parameters = coerce(raw, names);
  if (parameters.ci_run === '') delete parameters.ci_run;
  return requireValid(validate(parameters));
}
