import { randomUUID } from 'node:crypto';
import type { ApiError } from './api-error.js';
import { httpErrors } from './api-error.js';
import type { Forwarded } from './forwarded.js';
import type { Request } from './request.js';

/** A request whose body has not arrived yet. */
export interface RequestHead extends Request {
  /** The client wants the connection closed after the answer. */
  wantsClose: boolean;
  /** Null: no proxy sent anything. */
  forwarded: Forwarded | null;
  /** Value of X-Forwarded-For; empty if absent. */
  forwardedFor: string;
  hasHost: boolean;
  isChunked: boolean;
  /** Declared bytes of the body; null if there is no Content-Length. */
  contentLength: number | null;
  /** The error to answer, whatever the path; null if the head is well-formed. */
  refusal: ApiError | null;
}

/** A parsed head. The methods have the names of the request object of uWebSockets.js, which needs no wrapper. */
export interface ParsedHead {
  getMethod(): string;
  /** Without the query. */
  getUrl(): string;
  /** Without the question mark. */
  getQuery(): string | undefined;
  /** @param callback called with each header, its name in lower case */
  forEach(callback: (name: string, value: string) => void): void;
}

const NO_BODY = [new Uint8Array()];
const hasNotLeft = () => false;
const NOBODY = { address: () => '' };

/** Headers that clients of the API hardly send, but browsers and Prometheus do. In the lookup they cost the requests of those clients nothing. */
const BROWSER_FIELDS = [
  ['authorization', 'authorization'],
  ['cookie', 'cookie'],
  ['origin', 'origin'],
  ['sec-fetch-site', 'fetchSite'],
  ['accept-encoding', 'acceptEncoding'],
  ['if-none-match', 'ifNoneMatch'],
  ['ballast-project', 'project'],
  ['ballast-dashboard', 'dashboard'],
  ['x-forwarded-for', 'forwardedFor'],
] as const;

type Field = 'token' | 'clientName' | 'clientVersion' | (typeof BROWSER_FIELDS)[number][1];
/** Fields of a request by the names of the headers that set them. */
export type HeaderFields = ReadonlyMap<string, Field>;

/** Builds the lookup for the configured header prefixes. If a request uses several prefixes, the last header counts. */
export function headerFields(prefixes: readonly string[]): HeaderFields {
  const fields = new Map<string, Field>(BROWSER_FIELDS);
  for (const prefix of prefixes.map(text => text.toLowerCase())) {
    fields.set(`${prefix}-test-suite-token`, 'token');
    fields.set(`${prefix}-client-name`, 'clientName');
    fields.set(`${prefix}-client-version`, 'clientVersion');
  }
  return fields;
}

/** Copies a request's head, and refuses what the parser should not have accepted. */
export function readHead(parsed: ParsedHead, fields: HeaderFields): RequestHead {
  const url = parsed.getUrl();
  const head: RequestHead = {
    method: parsed.getMethod().toUpperCase(),
    // If a client is configured with a trailing slash, it sends "//v1/...".
    path: url.startsWith('//') ? url.replace(/^\/{2,}/, '/') : url,
    query: parsed.getQuery() ?? '',
    id: '',
    scheme: 'http',
    host: '',
    contentType: '',
    wantsText: false,
    wantsHtml: false,
    isOpenToPublic: false,
    token: null,
    clientName: '',
    clientVersion: '',
    retryCount: 0,
    authorization: '',
    cookie: '',
    origin: '',
    fetchSite: '',
    acceptEncoding: '',
    ifNoneMatch: '',
    project: '',
    dashboard: '',
    body: NO_BODY,
    peer: NOBODY,
    hasLeft: hasNotLeft,
    wantsClose: false,
    forwarded: null,
    forwardedFor: '',
    hasHost: false,
    isChunked: false,
    contentLength: null,
    refusal: null,
  };
  parsed.forEach((name, value) => void readHeader(head, name, value, fields));
  if (head.id === '') head.id = randomUUID();
  return head;
}

function readHeader(head: RequestHead, name: string, value: string, fields: HeaderFields): void {
  switch (name) {
    case 'content-length':
      if (head.contentLength !== null) head.refusal = httpErrors.malformed('Content-Length is sent twice');
      if (value === '') head.refusal = httpErrors.malformed('Content-Length is empty');
      head.contentLength = Number(value);
      return;
    case 'transfer-encoding':
      if (head.isChunked || value.toLowerCase() !== 'chunked') {
        head.refusal = httpErrors.malformed('Transfer-Encoding must be chunked or absent');
      }
      head.isChunked = true;
      return;
    case 'connection':
      head.wantsClose = /\bclose\b/i.test(value);
      return;
    case 'host':
      if (head.hasHost) head.refusal = httpErrors.malformed('Host is sent twice');
      head.hasHost = true;
      head.host = value;
      return;
    case 'x-forwarded-proto':
      head.forwarded = { proto: value, host: head.forwarded?.host ?? '' };
      return;
    case 'x-forwarded-host':
      head.forwarded = { proto: head.forwarded?.proto ?? '', host: value };
      return;
    case 'content-type':
      head.contentType = value;
      return;
    case 'accept':
      // Only if it comes first: programs that accept anything name text/plain as well, after JSON.
      head.wantsText = /^\s*text\/plain\b/i.test(value);
      head.wantsHtml = /\btext\/html\b/i.test(value);
      return;
    case 'x-request-id':
      // The answer repeats the value in a header, so it must be harmless there.
      if (/^[A-Za-z0-9._-]{1,128}$/.test(value)) head.id = value;
      return;
    case 'x-retry-count':
      if (/^\d{1,6}$/.test(value)) head.retryCount = Number(value);
      return;
  }
  const field = fields.get(name);
  if (field && value !== '') head[field] = value;
}
