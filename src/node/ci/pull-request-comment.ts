import { readFileSync } from 'node:fs';
import type { Environment } from './systems.js';

/** The part of a code host's API that keeps the comments of a pull or merge request. */
interface CodeHost {
  /** Name of the request in errors: pull request 12. */
  request: string;
  /** The address of the list of its comments. */
  list: string;
  /** The address of a comment with an id. */
  comment(id: number): string;
  headers: Readonly<Record<string, string>>;
  updateMethod: 'PATCH' | 'PUT';
  /** Hidden in the comment. A name cannot end it, because > is encoded. */
  marker: string;
  /** The address that tells whose token it is. */
  user: string;
  /** Permission that a job lacks which may not comment. */
  permission: string;
}

interface Comment {
  id: number;
  body?: string | null;
  /** Author of the comment, as GitHub names it. */
  user?: { id?: number; type?: string } | null;
  /** The same on GitLab. */
  author?: { id?: number } | null;
}

const PER_PAGE = 100;
const MAX_PAGES = 30;
const TIMEOUT_MILLISECONDS = 15_000;
/** GitHub takes 65,536. */
const MAX_CHARACTERS = 60_000;

/**
 * Writes Markdown as a comment of the pull request or merge request of this CI job: the comment that an earlier run of the job wrote, or
 * else a new one. Resolves with what it did, as a sentence. Throws a sentence that says what to do.
 */
export async function writeComment(environment: Environment, markdown: string): Promise<string> {
  const host = hostOf(environment);
  if (!host) return 'this CI job is of no pull request and no merge request, so there is no comment';
  const text = `${host.marker}\n${markdown}`;
  const body = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}\n\n(cut)` : text;
  const own = await findOwn(host);
  if (own) await call(host, host.updateMethod, host.comment(own.id), { body });
  else await call(host, 'POST', host.list, { body });
  return `${own ? 'updated the comment' : 'wrote a comment'} of ${host.request}`;
}

/** Null: there is no pull request. Throws a sentence when a variable is missing. */
function hostOf(environment: Environment): CodeHost | null {
  return environment.GITLAB_CI ? gitLab(environment) : gitHub(environment);
}

function gitHub(environment: Environment): CodeHost | null {
  const number = pullRequestOf(environment);
  if (number === null) return null;
  const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_WORKFLOW = '', GITHUB_JOB = '' } = environment;
  const request = `pull request ${number}`;
  const token = required(environment, ['GITHUB_TOKEN'], request, 'set it to that of the job, github.token');
  required(environment, ['GITHUB_REPOSITORY'], request, 'set it to OWNER/NAME');
  const api = GITHUB_API_URL || 'https://api.github.com';
  const issues = `${api}/repos/${GITHUB_REPOSITORY}/issues`;
  return {
    request,
    list: `${issues}/${number}/comments`,
    comment: id => `${issues}/comments/${id}`,
    headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
    updateMethod: 'PATCH',
    marker: markerOf(GITHUB_WORKFLOW, GITHUB_JOB),
    user: `${api}/user`,
    permission: 'give the job the permission pull-requests: write (a pull request of a fork never has it)',
  };
}

/** The event of a job that runs for another reference than the pull request's has its number, too. */
function pullRequestOf({ GITHUB_REF, GITHUB_EVENT_PATH }: Environment): number | null {
  const [, number] = /^refs\/pull\/(\d+)\//.exec(GITHUB_REF ?? '') ?? [];
  if (number !== undefined) return Number(number);
  if (!GITHUB_EVENT_PATH) return null;
  try {
    const event = JSON.parse(readFileSync(GITHUB_EVENT_PATH, 'utf8')) as { pull_request?: { number?: unknown } } | null;
    const found = event?.pull_request?.number;
    return typeof found === 'number' ? found : null;
  } catch {
    return null;
  }
}

function gitLab(environment: Environment): CodeHost | null {
  const { CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, CI_PROJECT_PATH = '', CI_JOB_NAME = '' } = environment;
  if (!CI_MERGE_REQUEST_IID) return null;
  const request = `merge request ${CI_MERGE_REQUEST_IID}`;
  const token = required(environment, ['BALLAST_GITLAB_TOKEN', 'GITLAB_TOKEN'], request, 'set it to an access token with the scope api');
  for (const name of ['CI_API_V4_URL', 'CI_PROJECT_ID']) required(environment, [name], request, 'GitLab sets it in each job');
  const list = `${CI_API_V4_URL}/projects/${CI_PROJECT_ID}/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;
  return {
    request,
    list,
    comment: id => `${list}/${id}`,
    headers: { 'private-token': token },
    updateMethod: 'PUT',
    marker: markerOf(CI_PROJECT_PATH, CI_JOB_NAME),
    user: `${CI_API_V4_URL}/user`,
    permission: 'give the token the scope api, and its user at least the role Reporter',
  };
}

function markerOf(...names: string[]): string {
  return `<!-- ballast ${names.map(encodeURIComponent).join(' ')} -->`;
}

/** The first of some variables that is set. */
function required(environment: Environment, names: readonly string[], request: string, remedy: string): string {
  for (const name of names) if (environment[name]) return environment[name];
  throw new Error(`cannot comment on ${request}: ${names.join(' or ')} is not set; ${remedy}`);
}

/** The comment that this job wrote. Anybody may write the marker, so its author counts, too. */
async function findOwn(host: CodeHost): Promise<Comment | null> {
  // The token of a job on GitHub is that of an app, which is no user: 403.
  const owner = ((await call(host, 'GET', host.user, { refusal: 403 })) as { id?: number } | null)?.id;
  const isOwner = ({ user, author }: Comment) => (owner === undefined ? user?.type === 'Bot' : (user ?? author)?.id === owner);
  for (let page = 1; page <= MAX_PAGES; page++) {
    const url = `${host.list}?per_page=${PER_PAGE}&page=${page}`;
    const comments = (await call(host, 'GET', url)) as Comment[];
    const own = comments.find(comment => comment.body?.startsWith(host.marker) && isOwner(comment));
    if (own) return own;
    if (comments.length < PER_PAGE) return null;
  }
  return null;
}

interface CallOptions {
  /** The text of a comment. */
  body?: string;
  /** A status that is an answer, too: null. */
  refusal?: number;
}

async function call(host: CodeHost, method: string, url: string, { body, refusal }: CallOptions = {}): Promise<unknown> {
  const attempt = `cannot comment on ${host.request}: ${method} ${url}`;
  const headers = { ...host.headers, 'user-agent': 'ballast', ...(body !== undefined && { 'content-type': 'application/json' }) };
  let status: number;
  let text: string;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
    const response = await fetch(url, {
      method,
      headers,
      signal,
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify({ body }) }),
    });
    ({ status } = response);
    text = await response.text();
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { message?: string } };
    throw new Error(`${attempt} was not answered: ${cause?.message ?? message}`, { cause: error });
  }
  if (status === refusal) return null;
  const hint = [401, 403, 404].includes(status) ? `; ${host.permission}` : '';
  if (status < 200 || status > 299) throw new Error(`${attempt} was answered with ${status}${hint}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${attempt} was answered with something that is no JSON; check the address of the API`);
  }
}
