/** Numbers of statements, and milliseconds. */
export const BOUNDS = {
  /** Time that the caller of a statement waits for a database that does not answer. Clients wait 15 s for an answer. */
  wait: 12_000,
  /** Statements that may wait for a connection to the database; beyond it 503. */
  waiting: 10_000,
  /** Time in which a connection to the database is made, or ended. */
  connect: 5000,
  /** After this time a connection is replaced by a new one: the plans of its statements follow the data then. */
  connection: 600_000,
  /** Interval at which a serving process asks whether its database is there. */
  watch: 1000,
  /** Without an answer to that for this time, all connections are made again. */
  silence: 2000,
  /** Time for statements that are under way when the store is closed. */
  close: 2000,
};

export interface DatabaseOptions {
  /**
   * postgres://user:password@host:port,host:port/database?sslmode=verify-full. The hosts are tried in turn, the one that worked last first;
   * only one that accepts writes is used.
   */
  url: string;
  /** The most connections at a time, besides that of the watch. */
  connections: number;
  /** The path of a PEM file with the authorities that may have signed the certificate of the server. Null: those that Node trusts. */
  ca?: string | null;
  /** The path of a file with the password. It is read for each connection that is asked for one. Null: the URL has it, or there is none. */
  passwordFile?: string | null;
  /**
   * One more connection asks each second whether the database is there, and what time it has. With this, a statement may take as long as it
   * takes. Without it, the connection of a statement that took too long for its caller is cut.
   */
  isWatched?: boolean;
  bounds?: Partial<typeof BOUNDS>;
  /** Called when a statement was answered. Its time does not include the wait for a connection. */
  statementEnded?: (kind: StatementKind, seconds: number) => void;
}

export type StatementKind = 'read' | 'change';

/** Settings of all parts of a Database. */
export interface Settings extends DatabaseOptions {
  bounds: typeof BOUNDS;
  /** Aborted when the database is closed. */
  closing: AbortSignal;
}
