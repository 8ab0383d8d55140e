import { randomUUID } from 'node:crypto';
import type { ApiError } from '../api-error.js';
import { apiErrors } from '../api-error.js';
import type { Forwarded } from './forwarded.js';
import type { Request } from './request.js';

/** A request whose body is still to come. */
export interface RequestHead extends Request {
  /** The client wants the connection closed behind the answer. */
  wantsClose: boolean;
  /** Null: no proxy told anything. */
  forwarded: Forwarded | null;
  /** Declared bytes of the body; null when chunked or absent. */
  contentLength: number | null;
  /** Why the request is refused whatever its path. */
  refusal: ApiError | null;
}

/** A parsed head. The request of uWebSockets.js has these methods itself. */
export interface ParsedHead {
  getMethod(): string;
  /** Without the query. */
  getUrl(): string;
  /** Without the question mark. */
  getQuery(): string | undefined;
  /** @param each called with the name in lower case */
  forEach(each: (name: string, value: string) => void): void;
}

const NO_BODY = [new Uint8Array()];
const isHere = () => false;

type Field = 'token' | 'clientName' | 'clientVersion';
export type HeaderFields = ReadonlyMap<string, Field>;

/** Turns the configured prefixes into a lookup by header name; of several prefixes sent the last header counts. */
export function headerFields(prefixes: readonly string[]): HeaderFields {
  const fields = new Map<string, Field>();
  for (const prefix of prefixes.map(text => text.toLowerCase())) {
    fields.set(`${prefix}-test-suite-token`, 'token');
    fields.set(`${prefix}-client-name`, 'clientName');
    fields.set(`${prefix}-client-version`, 'clientVersion');
  }
  return fields;
}

/** Copies what is needed from a request's head, and refuses what the parser let through. */
export function readHead(parsed: ParsedHead, fields: HeaderFields): RequestHead {
  const query = parsed.getQuery() ?? '';
  const url = parsed.getUrl();
  const head: RequestHead = {
    method: parsed.getMethod().toUpperCase(),
    // An endpoint configured with a trailing slash makes clients send "//v1/...".
    path: url.startsWith('//') ? url.replace(/^\/{2,}/, '/') : url,
    query,
    id: '',
    scheme: 'http',
    host: '',
    contentType: '',
    wantsText: false,
    token: null,
    clientName: '',
    clientVersion: '',
    retryCount: 0,
    body: NO_BODY,
    hasLeft: isHere,
    wantsClose: false,
    forwarded: null,
    contentLength: null,
    refusal: null,
  };
  let chunked = false;
  let hasHost = false;
  parsed.forEach((name, value) => {
    switch (name) {
      case 'content-length':
        if (head.contentLength !== null) head.refusal = apiErrors.malformed('Content-Length is sent twice');
        head.contentLength = Number(value);
        return;
      case 'transfer-encoding':
        if (chunked || value.toLowerCase() !== 'chunked') {
          head.refusal = apiErrors.malformed('Transfer-Encoding must be chunked or absent');
        }
        chunked = true;
        return;
      case 'connection':
        head.wantsClose = /\bclose\b/i.test(value);
        return;
      case 'host':
        if (hasHost) head.refusal = apiErrors.malformed('Host is sent twice');
        hasHost = true;
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
        // Programs that take anything name text/plain, too, but behind JSON.
        head.wantsText = /^\s*text\/plain\b/i.test(value);
        return;
      case 'x-request-id':
        // A caller's text becomes a header of the answer only when it is harmless.
        if (/^[A-Za-z0-9._-]{1,128}$/.test(value)) head.id = value;
        return;
      case 'x-retry-count':
        if (/^\d{1,6}$/.test(value)) head.retryCount = Number(value);
        return;
    }
    const field = fields.get(name);
    if (field && value !== '') head[field] = value;
  });
  if (head.id === '') head.id = randomUUID();
  return head;
}
