export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a value is found: a variable, and what is to be made of its text. Null: that says nothing. */
export interface Variable {
  name: string;
  read?: (text: string) => string | null;
}

/** What a CI system says of a node. Of several variables the first one that is set counts. */
export interface CiSystem {
  name: string;
  isHere: (environment: Environment) => boolean;
  /** From 0; none: the system does not number parallel jobs. */
  nodeIndex: readonly Variable[];
  nodeTotal: readonly Variable[];
  /** The same for all nodes of a CI run, and when some of them are run again. */
  buildId: readonly Variable[];
  /** The source branch, of a pull request, too. */
  branch: readonly Variable[];
  commitHash: readonly Variable[];
}

export const variable = (name: string): Variable => ({ name });

/** A number that the system counts from 1. */
export const fromOne = (name: string): Variable => ({ name, read: text => (/^[1-9]\d*$/.test(text) ? String(Number(text) - 1) : text) });

/** A Git reference: refs/heads/main is the branch main. */
export const reference = (name: string): Variable => ({ name, read: text => text.replace(/^refs\/(heads|tags)\//, '') });

/** A commit by its hash: HEAD is another one every day. */
export const hash = (name: string): Variable => ({ name, read: text => (/^[0-9a-f]{7,64}$/i.test(text) ? text : null) });

/** A branch of the remote: origin/main is main. */
export const remote = (name: string): Variable => ({ name, read: text => text.replace(/^origin\//, '') });

export const isSet =
  (name: string) =>
  (environment: Environment): boolean =>
    Boolean(environment[name]);
