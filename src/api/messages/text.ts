import type { tags } from 'typia';
import type { limits } from '../../limits.js';

/** A required text, such as a commit hash, a branch or a build id. */
export type Text = string & tags.MinLength<1> & tags.MaxLength<typeof limits.textMaxCharacters>;

/** An optional text, which may be empty. */
export type OptionalText = string & tags.MaxLength<typeof limits.textMaxCharacters>;

/**
 * Half a surrogate pair has no UTF-8, and a digest of paths ends each path with NUL. Paths with either would be confused with others. File
 * systems have neither.
 */
type FileName = tags.TagBase<{
  target: 'string';
  kind: 'fileName';
  value: undefined;
  validate: '$input.isWellFormed() && !$input.includes("\\0")';
  exclusive: true;
  schema: undefined;
}>;

export type Path = string & tags.MinLength<typeof limits.pathMinCharacters> & tags.MaxLength<typeof limits.pathMaxCharacters> & FileName;

/** A path, or a test case in one, which may be of any length. */
export type FailedPath = string & tags.MaxLength<typeof limits.pathMaxCharacters> & FileName;

export type NodeTotal = number & tags.Type<'int64'> & tags.Minimum<1> & tags.Maximum<typeof limits.nodesPerBuild>;
export type NodeIndex = number & tags.Type<'int64'> & tags.Minimum<0>;
