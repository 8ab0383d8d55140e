import { describe, expect, it } from 'vitest';
import { answerOf, Problem } from '../../../src/dashboard/data/api.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const PAGE = '<!doctype html><title>Sign in to Example</title>';

/** Result of an answer: its data, or the status and the words of the problem. */
function read(status: number, contentType: string | null, text: string): unknown {
  const headers = new Headers(contentType === null ? {} : { 'Content-Type': contentType });
  try {
    return answerOf('load the builds', { ok: status >= 200 && status < 300, status, headers }, text);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [error.status, error.reason];
  }
}

const foreign = (what: string) => [
  0,
  `the server's address answered with ${what} instead of data: a proxy may have ended your session. Reload the page`,
];

describe('an answer to a page', () => {
  it.each([
    ['data', 200, JSON_TYPE, '{"builds":[]}', { builds: [] }],
    ['a refusal', 403, JSON_TYPE, '{"errors":[{"name":["is too long"]}]}', [403, 'name: is too long']],
    ['the end of the session', 401, JSON_TYPE, '{"errors":["not signed in"]}', [401, 'not signed in']],
    ['the sign-in page of a proxy', 200, 'text/html', PAGE, foreign('a web page')],
    ['the same as a refusal, which ends no session of ours', 401, 'text/html', PAGE, foreign('a web page (401)')],
    ['a page that calls itself JSON', 200, JSON_TYPE, PAGE, [0, "the server's answer broke off"]],
    ['a redirect, as a browser shows it', 0, null, '', foreign('a redirect')],
    ['a redirect', 302, 'text/html', PAGE, foreign('a redirect')],
    ['the page of a proxy that reaches no server', 502, 'text/html', PAGE, [502, 'the server answered 502']],
    ['an empty body', 200, JSON_TYPE, '', foreign('nothing')],
    ['no content', 204, null, '', foreign('nothing')],
    ['truncated JSON', 200, JSON_TYPE, '{"builds":[', [0, "the server's answer broke off"]],
    ['JSON that is no object', 200, JSON_TYPE, 'null', [0, "the server's answer broke off"]],
  ])('is understood: %s', (_, status, contentType, text, expected) => {
    expect(read(status, contentType, text)).toEqual(expected);
  });
});
