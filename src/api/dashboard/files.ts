/** Content codings of compressed copies, the smallest first. Browsers accept brotli only over TLS and from their own machine. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** A file of the dashboard's front end, in memory. */
export interface StaticFile {
  body: Uint8Array;
  /** Null: there is no such copy. */
  copies: Readonly<Record<Coding, Uint8Array | null>>;
  contentType: string;
  /** Without quotes. */
  hash: string;
}

/** The front end as it was built. */
export interface DashboardFiles {
  /** Answers the path of every page; null: the front end was not built. */
  page: StaticFile | null;
  /** By path, such as /assets/main-1A2B3C4D.js. */
  assets: ReadonlyMap<string, StaticFile>;
}
