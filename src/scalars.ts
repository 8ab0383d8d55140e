/** Values in answers of the API, as its description shows them. Types only. */
import type { tags } from 'typia';

export type Uuid = string & tags.Format<'uuid'>;

/** ISO 8601 in UTC with milliseconds. */
export type Timestamp = string & tags.Format<'date-time'>;

/** A number of things, or an index. */
export type Count = number & tags.Type<'int64'> & tags.Minimum<0>;
