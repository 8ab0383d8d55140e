/** Values in messages and answers of the API, as its description shows them. Types only. */
import type { tags } from 'typia';
import type { limits } from './limits.js';

export type Uuid = string & tags.Format<'uuid'>;

/** ISO 8601 in UTC with milliseconds. */
export type Timestamp = string & tags.Format<'date-time'>;

/** A number of things, or an index. */
export type Count = number & tags.Type<'int64'> & tags.Minimum<0>;

/** A required text, such as a commit hash, a branch or a build id. */
export type Text = string & tags.MinLength<1> & tags.MaxLength<typeof limits.textMaxCharacters>;
