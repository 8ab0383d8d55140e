// Writes a file as a comment of the pull request: the comment that an earlier run of this job wrote, or else a new one.
import { readFileSync } from 'node:fs';

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, GITHUB_WORKFLOW, GITHUB_JOB, PULL_REQUEST } = process.env;
const PAGE = 100;
const MAX_PAGES = 30;

/** Hidden in the comment. A name cannot end it, because > is escaped. */
const marker = `<!-- ballast ${encodeURIComponent(GITHUB_WORKFLOW ?? '')} ${encodeURIComponent(GITHUB_JOB ?? '')} -->`;
const issues = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues`;

async function call(method, url, body) {
  const headers = { authorization: `Bearer ${GITHUB_TOKEN}`, accept: 'application/vnd.github+json', 'user-agent': 'ballast' };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (response.ok) return response.json();
  const hint = response.status === 403 ? '; give the job the permission pull-requests: write (a pull request of a fork never has it)' : '';
  throw new Error(`cannot comment on pull request ${PULL_REQUEST}: ${method} ${url} was answered with ${response.status}${hint}`);
}

/** The address of the comment of this job; undefined: there is none. Anyone may write the marker, but only apps are bots. */
async function findComment() {
  for (let page = 1; page <= MAX_PAGES; page++) {
    const comments = await call('GET', `${issues}/${PULL_REQUEST}/comments?per_page=${PAGE}&page=${page}`);
    const own = comments.find(({ user, body }) => user?.type === 'Bot' && body?.startsWith(marker));
    if (own || comments.length < PAGE) return own && `${issues}/comments/${own.id}`;
  }
}

try {
  const body = `${marker}\n${readFileSync(process.argv[2], 'utf8')}`;
  const comment = await findComment();
  await (comment ? call('PATCH', comment, { body }) : call('POST', `${issues}/${PULL_REQUEST}/comments`, { body }));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
