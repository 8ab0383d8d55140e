import type { Answer, Request } from '../http/request.js';

/** Content codings of compressed copies, the smallest first. Browsers accept brotli only over TLS and from their own machine. */
const CODINGS = ['br', 'gzip'] as const;
type Coding = (typeof CODINGS)[number];

/** A file that was built with the program, in memory. */
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

/** GET of a file: 200, or 304 when the client has it. */
export function fileAnswer(
  { body, copies, contentType, hash }: StaticFile,
  { acceptEncoding, ifNoneMatch }: Request,
  cacheControl: string,
): Answer {
  const coding = CODINGS.find(each => copies[each] && accepts(acceptEncoding, each));
  const etag = coding ? `"${hash}-${coding}"` : `"${hash}"`;
  return {
    status: isKnown(ifNoneMatch, etag) ? 304 : 200,
    body: coding ? copies[coding]! : body,
    contentType,
    cacheControl,
    headers: { ...(coding && { 'Content-Encoding': coding }), ETag: etag, Vary: 'Accept-Encoding' },
    // All requests share these bytes.
    memoryBytes: 0,
  };
}

/** Reports whether If-None-Match has an entity tag, by weak comparison, or is `*` (RFC 9110, section 13.1.2). */
function isKnown(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some(each => ['*', etag, `W/${etag}`].includes(each.trim()));
}

/** Reports whether Accept-Encoding has a content coding. */
export function accepts(acceptEncoding: string, coding: Coding): boolean {
  return acceptEncoding.split(',').some(each => {
    const [name, quality] = each.split(';');
    return name!.trim().toLowerCase() === coding && !/^\s*q=0(\.0*)?\s*$/.test(quality ?? '');
  });
}
