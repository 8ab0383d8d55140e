/** A request as handlers see it. It is a copy: the request object of uWebSockets.js is invalid after its callback. */
export interface Request {
  /** Upper case. */
  method: string;
  /** Without the query. */
  path: string;
  /** Raw, without the question mark. */
  query: string;
  id: string;
  /** Scheme and host by which the client reached this server, as reported by the client or a trusted proxy. */
  scheme: 'http' | 'https';
  host: string;
  contentType: string;
  /** Accept begins with text/plain: the answer is for a shell. */
  wantsText: boolean;
  /** Accept names text/html: a person looks at the answer in a browser. */
  wantsHtml: boolean;
  /** Set by the table of the API: a public token may ask for this. */
  isOpenToPublic: boolean;
  /** Null: no header has a token. Older clients send it in the body. */
  token: string | null;
  clientName: string;
  clientVersion: string;
  /** Value of X-Retry-Count; 0 if absent. */
  retryCount: number;
  /** Value of Authorization, which only one endpoint reads: a proxy may use it for itself; empty if absent. */
  authorization: string;
  /** Values of headers that browsers send; empty if absent. `fetchSite` is Sec-Fetch-Site. */
  cookie: string;
  origin: string;
  fetchSite: string;
  acceptEncoding: string;
  ifNoneMatch: string;
  /** Values of the dashboard's own headers Ballast-Project and Ballast-Dashboard; empty if absent. */
  project: string;
  dashboard: string;
  /**
   * A body smaller than `POOLED_BODY_BYTES` is one piece, valid until the handler returns. A larger one is one or more pieces, which
   * the handler may keep.
   */
  body: Uint8Array[];
  peer: Peer;
  /** Tells whether the client has closed its connection. */
  hasLeft: () => boolean;
}

/** The client at the other end. */
export interface Peer {
  /** Its IP address, as reported by trusted proxies; empty on a Unix socket. Valid until the handler returns. */
  address(): string;
}

/** The result of a handler. Only http/ writes bytes. */
export interface Answer {
  status: number;
  /** With status 304: the body that the client has. It is not sent. */
  body: string | Uint8Array;
  /** Text that is sent before and after the body, so that a body which many answers share need not be copied for each. */
  around?: readonly [before: string, after: string];
  /** Default: application/json. */
  contentType?: string;
  /** Default: no-store, because an answer is valid only now, and only for the one who may read it. */
  cacheControl?: string;
  headers?: Readonly<Record<string, string>>;
  /** Further pieces of the body, read as fast as the client reads. There is then no Content-Length, and an error closes the connection. */
  rest?: AsyncGenerator<Uint8Array>;
  /** Memory that the answer takes while it is sent, if that is not the length of `body`. */
  memoryBytes?: number;
  /** The answer is sent when this resolves. When it rejects, its error is answered instead. Null or missing: it is sent at once. */
  saved?: Promise<void> | null;
  /** Called once, when the answer was sent, or cannot be sent any more. It is not called when `saved` rejects: what the answer tells is void. */
  onEnd?: (wasSent: boolean) => void;
}
