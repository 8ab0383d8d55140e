export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that has a value. */
export interface Variable {
  name: string;
  /** Converts the text of the variable; null: it has no usable value. */
  read?: (text: string) => string | null;
}

/** The variables of a CI system. Of several variables, the first one that is set counts. */
export interface CiSystem {
  name: string;
  isHere: (environment: Environment) => boolean;
  /** From 0. Empty: the system does not number parallel jobs. */
  nodeIndex: readonly Variable[];
  nodeTotal: readonly Variable[];
  /** The same for all nodes of a CI run and for retries of them. */
  buildId: readonly Variable[];
  /** Whether this is a later attempt of a CI run or job. Missing: the system does not tell. */
  isRerun?: (environment: Environment) => boolean;
  /** The source branch, also of a pull request. */
  branch: readonly Variable[];
  commitHash: readonly Variable[];
}

export const variable = (name: string): Variable => ({ name });

/** A number that the system counts from 1. */
export const fromOne = (name: string): Variable => ({ name, read: text => (/^[1-9]\d*$/.test(text) ? String(Number(text) - 1) : text) });

/** A Git reference: refs/heads/main is the branch main. */
export const reference = (name: string): Variable => ({ name, read: text => text.replace(/^refs\/(heads|tags)\//, '') });

/** A commit hash. Names such as HEAD are not usable: they mean other commits later. */
export const hash = (name: string): Variable => ({ name, read: text => (/^[0-9a-f]{7,64}$/i.test(text) ? text : null) });

/** A remote branch: origin/main is the branch main. */
export const remote = (name: string): Variable => ({ name, read: text => text.replace(/^origin\//, '') });

/** A number of attempts above that of the first. */
export const countsFrom =
  (name: string, first: number) =>
  (environment: Environment): boolean =>
    Number(environment[name]) > first;

export const isSet =
  (name: string) =>
  (environment: Environment): boolean =>
    Boolean(environment[name]);
