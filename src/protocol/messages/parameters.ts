import type { tags } from 'typia';
import type { FileOutcome } from '../file-outcome.js';
import type { limits } from '../limits.js';
import type { Text } from '../scalars.js';

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

/** A test file, or a test case in one, in a list of files to split. */
export interface ListedTestFile {
  path: Path;
}

/** A test file with its time in seconds. 0: scheduled, not measured. */
export interface RecordedTestFile {
  path: Path;
  time_execution: number & tags.Minimum<0>;
  /** With a time of 0: the file ran, and had no time to measure. */
  ran?: boolean;
  /** With a time of 0: no test of the file ran. It has none, or all of them are skipped or not selected. */
  no_test?: boolean;
  /** Missing: the client does not tell. In a request with `tells_outcomes`: it passed. */
  outcome?: FileOutcome;
}

/** A test file to run. A null time is unknown. */
export interface PlannedTestFile {
  path: string;
  time_execution: number | null;
}

export type TestFileList<File> = File[] & tags.MaxItems<typeof limits.testFilesPerRequest>;

/** Identifies a build within a project. */
export interface BuildKey {
  commit_hash: Text;
  branch: Text;
  node_total: NodeTotal;
}

/** Identifies one node of a build. All endpoints that CI nodes call have these parameters. */
export interface NodeKey extends BuildKey {
  node_index: NodeIndex;
}

/** The people who started the build and wrote its code. Clients may leave out any of them or send null. They are validated, and not kept. */
export interface People {
  user_seat?: OptionalText;
  build_author?: OptionalText;
  commit_authors?: CommitAuthor[] & tags.MaxItems<typeof limits.commitAuthorsPerRequest>;
}

/** An address on the web, or a template of one. */
export type Address = string & tags.MaxLength<typeof limits.linkMaxCharacters>;

/** Addresses at which people find the work of a node, sent with its first requests. An address that cannot be used is ignored. */
export interface Links {
  /** The page of the CI job of the node. */
  job_url?: Address;
  /** The page of a commit, with {commit} in place of its hash. */
  commit_url?: Address;
  /** The page of what changed between two commits, with {before} and {commit} in place of their hashes. */
  diff_url?: Address;
}

/** What the tests of a node run on, sent with its first requests. */
export interface Checkout {
  /** The hash of the Git tree that is checked out, in hex. Missing: it is not known, or the client does not tell. */
  tree?: GitHash;
  /** Why the files of the node may differ from the tree, or why the tree is not known. Missing: they are those of the tree. */
  tree_doubt?: OptionalText;
  /** The SHA-256, in hex, of each text that names what else the tests depend on: an image, a version. */
  proof_keys?: Sha256[] & tags.MaxItems<typeof limits.proofKeys>;
  /** The SHA-256, in hex, of the arguments of the command that runs test files, with a NUL after each. Missing: it is not known. */
  command_digest?: Sha256;
}

/** A SHA-1 or SHA-256. */
export type GitHash = string & tags.Pattern<'^[0-9a-f]{40}([0-9a-f]{24})?$'>;
export type Sha256 = string & tags.Pattern<'^[0-9a-f]{64}$'>;

export interface CommitAuthor {
  commits: number;
  author: OptionalText;
}
