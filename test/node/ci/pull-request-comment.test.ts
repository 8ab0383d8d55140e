import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { writeComment } from '../../../src/node/ci/pull-request-comment.js';
import { stubServer } from '../../harness/stub-server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

interface Comment {
  id: number;
  body: string;
  user?: { id?: number; type: string };
  author?: { id: number };
}

/** The API of a code host, with some comments. What it writes itself is by the app or the user 7, whose token it is. */
async function codeHost(comments: Comment[] = [], status = 200, type = 'Bot') {
  const calls: string[] = [];
  const url = await stubServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://host');
    const body = await text(request);
    calls.push(`${request.method} ${pathname}${searchParams.has('page') ? ` ${searchParams.get('page')}` : ''}`);
    const answer = (value: unknown, code = status) =>
      void response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const isKnown = request.headers.authorization === 'Bearer a-token' || request.headers['private-token'] === 'a-token';
    if (!isKnown || status !== 200) return answer({}, isKnown ? status : 401);
    // The token of a job on GitHub is no user's.
    const isApp = type === 'Bot' && request.headers.authorization !== undefined;
    if (pathname.endsWith('/user')) return isApp ? answer({}, 403) : answer({ id: 7 });
    if (request.method === 'POST') {
      comments.push({ id: 90 + comments.length, body: JSON.parse(body).body, user: { id: 7, type }, author: { id: 7 } });
      return answer({}, 201);
    }
    if (request.method !== 'GET') {
      Object.assign(comments.find(({ id }) => pathname.endsWith(`/${id}`))!, JSON.parse(body));
      return answer({});
    }
    const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))];
    answer(comments.slice((page - 1) * size, page * size));
  });
  return { url, calls, comments };
}

const gitHub = (url: string) => ({
  ...{ GITHUB_ACTIONS: 'true', GITHUB_API_URL: url, GITHUB_REPOSITORY: 'o/r', GITHUB_TOKEN: 'a-token' },
  ...{ GITHUB_REF: 'refs/pull/12/merge', GITHUB_WORKFLOW: 'tests', GITHUB_JOB: 'gate' },
});
const gitLab = (url: string) => ({
  ...{ GITLAB_CI: 'true', CI_API_V4_URL: url, CI_PROJECT_ID: '5', CI_MERGE_REQUEST_IID: '12', GITLAB_TOKEN: 'a-token' },
  ...{ CI_PROJECT_PATH: 'group/web', CI_JOB_NAME: 'gate --> x' },
});

describe.each([
  { name: 'GitHub', environment: gitHub, marker: '<!-- ballast tests gate -->', list: '/repos/o/r/issues/12/comments', method: 'PATCH' },
  {
    ...{ name: 'GitLab', environment: gitLab, method: 'PUT', list: '/projects/5/merge_requests/12/notes' },
    marker: '<!-- ballast group%2Fweb gate%20--%3E%20x -->',
  },
])('the comment on $name', ({ name, environment, marker, list, method }) => {
  const request = name === 'GitHub' ? 'pull request 12' : 'merge request 12';
  const written = (body: string): Comment => ({ id: expect.any(Number) as never, body, user: { id: 7, type: 'Bot' }, author: { id: 7 } });

  it('is written once, and then updated', async () => {
    const { url, calls, comments } = await codeHost();
    expect(await writeComment(environment(url), 'first')).toBe(`wrote a comment of ${request}`);
    expect(await writeComment(environment(url), 'second')).toBe(`updated the comment of ${request}`);
    expect(comments).toEqual([written(`${marker}\nsecond`)]);
    const changes = calls.filter(call => !call.startsWith('GET'));
    expect(changes).toEqual([`POST ${list}`, expect.stringMatching(`^${method} /.*/90$`)]);
  });

  it('is not that of somebody who wrote the marker, nor that of another job', async () => {
    const foreign = [
      { id: 1, body: `${marker}\nof a person`, user: { type: 'User' }, author: { id: 8 } },
      { id: 2, body: '<!-- ballast tests other -->', user: { type: 'Bot' }, author: { id: 7 } },
      { id: 3, body: `says ${marker}`, user: { type: 'Bot' }, author: { id: 7 } },
    ];
    const { url, comments } = await codeHost(structuredClone(foreign));
    await writeComment(environment(url), 'text');
    expect(comments).toEqual([...foreign, written(`${marker}\ntext`)]);
  });

  it('is found behind hundreds of others, up to a number of pages', async () => {
    const others = (count: number) => Array.from({ length: count }, (_, id) => ({ id, body: 'hello' }));
    const { url, calls, comments } = await codeHost([
      ...others(250),
      { id: 999, body: `${marker}\nold`, user: { type: 'Bot' }, author: { id: 7 } },
    ]);
    await writeComment(environment(url), 'new');
    expect(comments.at(-1)!.body).toBe(`${marker}\nnew`);
    expect(calls.filter(call => call.startsWith(`GET ${list}`))).toEqual([1, 2, 3].map(page => `GET ${list} ${page}`));
    const many = await codeHost(others(4000));
    await writeComment(environment(many.url), 'new');
    expect(many.calls.filter(call => call.startsWith(`GET ${list}`))).toHaveLength(30);
  });

  it('is cut where the code host would refuse it', async () => {
    const { url, comments } = await codeHost();
    await writeComment(environment(url), 'x'.repeat(100_000));
    expect(comments[0]!.body.length).toBeLessThan(65_536);
    expect(comments[0]!.body).toMatch(/x\n\n\(cut\)$/);
  });

  it.each([401, 403, 404])('that is refused with %d says which permission is missing, and not the token', async status => {
    const { url } = await codeHost([], status);
    const failed = writeComment(environment(url), 'text');
    await expect(failed).rejects.toThrow(`cannot comment on ${request}: GET ${url}`);
    await expect(failed).rejects.toThrow(
      `was answered with ${status}; give the ${name === 'GitHub' ? 'job the permission pull-requests: write' : 'token the scope api'}`,
    );
    await expect(failed).rejects.not.toThrow('a-token');
  });

  it('fails with a sentence when the API does not answer, or something else does', async () => {
    await expect(writeComment(environment('http://127.0.0.1:1'), 'text')).rejects.toThrow('was not answered: ');
    const page = await stubServer((_, response) => void response.end('<html>'));
    await expect(writeComment(environment(page), 'text')).rejects.toThrow('is no JSON; check the address of the API');
  });

  it('needs a token', async () => {
    const { GITHUB_TOKEN: _, GITLAB_TOKEN: __, ...rest } = environment('http://127.0.0.1:1') as Record<string, string>;
    const names = name === 'GitHub' ? 'GITHUB_TOKEN' : 'BALLAST_GITLAB_TOKEN or GITLAB_TOKEN';
    await expect(writeComment(rest, 'text')).rejects.toThrow(`cannot comment on ${request}: ${names} is not set; set it to `);
  });
});

it('with the token of a user on GitHub updates the comment of that user only', async () => {
  const marker = '<!-- ballast tests gate -->';
  const ofOthers = [
    { id: 1, body: `${marker}\nof a person`, user: { id: 8, type: 'User' } },
    { id: 2, body: `${marker}\nof the app`, user: { id: 9, type: 'Bot' } },
  ];
  const { url, comments } = await codeHost(structuredClone(ofOthers), 200, 'User');
  expect(await writeComment(gitHub(url), 'first')).toBe('wrote a comment of pull request 12');
  expect(await writeComment(gitHub(url), 'second')).toBe('updated the comment of pull request 12');
  expect(comments).toEqual([...ofOthers, expect.objectContaining({ body: `${marker}\nsecond`, user: { id: 7, type: 'User' } })]);
});

describe('a CI job', () => {
  it('without a pull request has no comment', async () => {
    const none = 'this CI job is of no pull request and no merge request, so there is no comment';
    const push = { ...gitHub('http://127.0.0.1:1'), GITHUB_REF: 'refs/heads/main' };
    const event = join(temporaryFolder(), 'event.json');
    writeFileSync(event, JSON.stringify({ after: 'abc' }));
    for (const environment of [{}, push, { ...push, GITHUB_EVENT_PATH: event }, { ...push, GITHUB_EVENT_PATH: '/no/such/file' }])
      expect(await writeComment(environment, 'text')).toBe(none);
    expect(await writeComment({ ...gitLab('http://127.0.0.1:1'), CI_MERGE_REQUEST_IID: '' }, 'text')).toBe(none);
  });

  it('that runs on the target of a pull request finds its number in the event', async () => {
    const { url, calls } = await codeHost();
    const event = join(temporaryFolder(), 'event.json');
    writeFileSync(event, JSON.stringify({ pull_request: { number: 34 } }));
    await writeComment({ ...gitHub(url), GITHUB_REF: 'refs/heads/main', GITHUB_EVENT_PATH: event }, 'text');
    expect(calls.at(-1)).toBe('POST /repos/o/r/issues/34/comments');
  });
});
