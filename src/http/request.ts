/** A request as handlers see it: copied from uWebSockets.js, whose own object is dead after its callback. */
export interface Request {
  /** Upper case. */
  method: string;
  /** Without the query. */
  path: string;
  /** Raw, without the question mark. */
  query: string;
  id: string;
  /** Scheme and host by which the client reached this server, as far as it or a trusted proxy tells. */
  scheme: 'http' | 'https';
  host: string;
  contentType: string;
  /** Accept begins with text/plain: the answer is for a shell. */
  wantsText: boolean;
  /** Null when no token header was sent; older clients have it in the body. */
  token: string | null;
  clientName: string;
  clientVersion: string;
  /** From X-Retry-Count; 0 when absent. */
  retryCount: number;
  /** One piece, lent until the handler returns (an asynchronous one: awaits); from `limits.pooledBodyBytes` on as many as came, given away. */
  body: Uint8Array[];
  /** Whether the client has closed its connection by now. */
  hasLeft: () => boolean;
}

/** What a handler returns; http/ alone writes bytes. */
export interface Answer {
  status: number;
  /** JSON, unless said otherwise. */
  body: string | Uint8Array;
  contentType?: string;
  headers?: Readonly<Record<string, string>>;
  /** The rest after the body, read as the socket takes it. The answer then has no Content-Length, and a failure closes the connection. */
  rest?: AsyncGenerator<Uint8Array>;
  /** The memory that it takes while it is sent, when that is not the length of its body. */
  memoryBytes?: number;
  /** Told once whether the answer was written, or the client left before. */
  written?: (ok: boolean) => void;
}
