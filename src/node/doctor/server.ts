import { allOf, pluralize } from '../../base/plural.js';
import { NOT_OPEN } from '../../protocol/public-token.js';
import type { Environment } from '../ci/systems.js';
import { isToken, tokenFault, urlFault } from '../client/address.js';
import { parseBuildList } from '../client/answers.js';
import { type Answer, type AnswerParser, Api, RequestRejected, ServerUnreachable } from '../client/api.js';
import { isFile } from '../client/test-files.js';
import { type Finding, fine, isUnexpanded, problem, warning } from './finding.js';

export interface ServerQuestion {
  /** As given; empty: not at all. */
  url: string;
  token: string;
  environment: Environment;
  clientVersion: string;
}

/** Clocks that differ less are common, and harmless. */
const CLOCK_SECONDS = 120;
const TIMEOUT_SECONDS = 15;
const PROBE_SECONDS = 5;

/** Checks the address of the server, what answers there, and the token. Returns the client if the server knows the token. */
export async function checkServer(question: ServerQuestion): Promise<{ findings: Finding[]; api: Api | null }> {
  const url = question.url.trim();
  const findings = [...tokenFindings(question), ...certificateFindings(question.environment)];
  const fault = urlFault(url);
  if (fault !== null) return { findings: [...problem('server.url', fault.what, fault.remedy), ...findings], api: null };
  const isTokenUsable = findings.every(({ id, level }) => !id.startsWith('server.token') || level !== 'error');
  const api = apiOf(url, isTokenUsable ? question.token.trim() : 'none', question);
  const answered = await ask(api, question);
  // Without a usable token the server can only refuse.
  const own = isTokenUsable ? answered.findings : answered.findings.filter(({ id }) => id !== 'server.token_unknown');
  return { findings: [...own, ...findings], api: answered.isAnswered && isTokenUsable ? api : null };
}

/** Says what a node does while the server is away. @param files null: the list is not known */
export function outageFinding(files: number | null): Finding[] {
  const all = files === null ? 'every test file' : allOf(files, 'test file');
  return fine(
    'outage',
    `if the server is unreachable, queue and split repeat a request (--retries), then end with exit code 3 and run nothing more; with --fallback this node runs ${all} itself, and so does each other node`,
  );
}

function apiOf(url: string, token: string, { clientVersion }: ServerQuestion, timeoutSeconds = TIMEOUT_SECONDS): Api {
  return new Api({ url, token, clientVersion, retries: 0, timeoutSeconds });
}

function tokenFindings({ token: text, environment }: ServerQuestion): Finding[] {
  const token = text.trim();
  const of = 'BALLAST_TOKEN, or --token';
  if (token === '') return problem('server.token_missing', tokenFault('')!.what, missingTokenRemedy(environment));
  if (isUnexpanded(token))
    return problem(
      'server.token_unexpanded',
      `the token is the name of a variable, which nothing replaced`,
      `check the quotes around it, and the name of the secret (${of})`,
    );
  if (/^(\*+|\[(secure|masked|filtered)\]|x+)$/i.test(token))
    return problem('server.token_masked', 'the token is masked, as in the log of a CI system', `give the token itself (${of})`);
  if (/^["'`]|["'`]$/.test(token))
    return problem(
      'server.token_quoted',
      'the token has quotes around it, which count as part of it',
      `leave the quotes out (${of}): Docker, .env files and some settings pages keep them`,
    );
  if (!isToken(token)) return problem('server.token_invalid', tokenFault(token)!.what, `copy the token again, whole and alone (${of})`);
  if (token !== text)
    return warning(
      'server.token_spaces',
      'the token has spaces or a line break around it. Ballast leaves them out, but curl and other clients do not',
      `store the secret without them, as with printf %s "$TOKEN" (${of})`,
    );
  return [];
}

function missingTokenRemedy({ GITHUB_ACTIONS, GITLAB_CI }: Environment): string {
  const set = 'set BALLAST_TOKEN to a token of the project (ballast token create PROJECT on the server prints one)';
  if (GITHUB_ACTIONS)
    return `${set}: in the workflow, env: {BALLAST_TOKEN: "\${{ secrets.BALLAST_TOKEN }}"}; pull requests from forks get no secrets`;
  if (GITLAB_CI) return `${set}: as a CI/CD variable; only jobs of protected branches get a protected one`;
  return set;
}

function certificateFindings({ NODE_EXTRA_CA_CERTS: file }: Environment): Finding[] {
  if (!file || isFile(file)) return [];
  return warning(
    'server.ca_file',
    `NODE_EXTRA_CA_CERTS names ${file}, which is not a file here, so Node does not use it`,
    'name a file of this machine, by its absolute path',
  );
}

type Asked = { findings: Finding[]; isAnswered: boolean };

async function ask(api: Api, question: ServerQuestion): Promise<Asked> {
  try {
    // The first request also looks up the name, connects and greets.
    const before = performance.now();
    const first = await read(api);
    if (!first.isTokenKnown) return { findings: unknownToken(api), isAnswered: false };
    const between = performance.now();
    await read(api);
    const [connecting, trip] = [between - before, performance.now() - between];
    const milliseconds = (time: number) => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;
    return {
      findings: [
        ...fine(
          'server.answers',
          `${api.options.url} knows the token, and answers in ${milliseconds(trip)} (${milliseconds(connecting)} with the connection)`,
        ),
        ...clockFindings(first.date),
      ],
      isAnswered: true,
    };
  } catch (error) {
    if (!(error instanceof ServerUnreachable || error instanceof RequestRejected)) throw error;
    return { findings: await whyNoAnswer(error, api, question), isAnswered: false };
  }
}

interface Read {
  isTokenKnown: boolean;
  date: string | null;
}

/** The builds of no commit: the server reads the token, and next to nothing else. */
function read(api: Api): Promise<Read> {
  const parse: AnswerParser<Read> = answer =>
    isTokenRefused(answer) || parseBuildList(answer)
      ? { isTokenKnown: !isTokenRefused(answer) || isPublic(answer), date: answer.date ?? null }
      : null;
  return api.get('/v1/builds?commit_hash=none&branch=none&node_total=1', parse);
}

/** A refusal in the words of a Ballast server, and not of a proxy. */
function isTokenRefused({ status, body }: Answer): boolean {
  return status === 403 && Array.isArray((body as { errors?: unknown } | null)?.errors);
}

/** A public token is known, and reads no builds. */
function isPublic({ body }: Answer): boolean {
  return (body as { errors: unknown[] }).errors.some(error => String(error).includes(NOT_OPEN));
}

function unknownToken({ options: { url, token } }: Api): Finding[] {
  return problem(
    'server.token_unknown',
    `${url} does not know the token, which has ${pluralize(token.length, 'character')}: it is incomplete, revoked, or of another server`,
    'copy it again, or make another: ballast token create PROJECT on the server prints one, and ballast token list PROJECT shows which are revoked',
  );
}

/** Nothing answers as a Ballast server does: what the client says of it, unless its certificate, its path or its scheme explain it. */
async function whyNoAnswer(error: ServerUnreachable | RequestRejected, api: Api, question: ServerQuestion): Promise<Finding[]> {
  const { url } = api.options;
  const { origin, pathname, protocol, host } = new URL(url);
  const { code, text, isCertificate } = networkCause(error.cause);
  if (isCertificate)
    return problem(
      'server.certificate',
      `this machine does not trust the certificate of ${host}: ${text} (${code})`,
      certificateRemedy(code),
    );
  if (error instanceof RequestRejected && !/^\/(v1\/?)?$/.test(pathname) && (await probe(origin, question)) === 'ballast')
    return problem('server.url_path', `${url} has the path ${pathname}, and the server answers without it`, `set BALLAST_URL=${origin}`);
  const [given, spoken] = protocol === 'https:' ? ['https', 'http'] : ['http', 'https'];
  const other = url.replace(given, spoken);
  if ((await probe(other, question)) !== null)
    return problem('server.scheme', `the server speaks ${spoken}, and its address begins with ${given}://`, `set BALLAST_URL=${other}`);
  if (error instanceof RequestRejected)
    return problem(
      'server.other_service',
      error.message,
      'give the address that "ballast serve" prints, without /v1 and what follows it, and have proxies let requests to /v1 and /v2 pass',
    );
  return problem(
    'server.no_answer',
    error.message,
    `check BALLAST_URL, and any firewall or proxy between this machine and ${host}; a server that others are to reach is started with BALLAST_HOST=0.0.0.0${proxyHint(question)}`,
  );
}

function certificateRemedy(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'renew the certificate of the server';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'give the name that the certificate is for in BALLAST_URL, or get a certificate for this name';
  return 'set NODE_EXTRA_CA_CERTS to a file with the certificate of your certificate authority';
}

function proxyHint({ environment }: ServerQuestion): string {
  const name = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find(each => environment[each]);
  return name && !environment.NODE_USE_ENV_PROXY
    ? `; ${name} is set: Node uses it only with NODE_USE_ENV_PROXY=1, from version 22.21 on`
    : '';
}

/** Asks, without the token, what answers: a Ballast server, or one whose certificate is not trusted; null: nothing of the kind. */
async function probe(url: string, question: ServerQuestion): Promise<'ballast' | 'certificate' | null> {
  const isDescription: AnswerParser<true> = ({ status, body }) =>
    status === 200 && typeof (body as { openapi?: unknown } | null)?.openapi === 'string' ? true : null;
  try {
    await apiOf(url, 'none', question, PROBE_SECONDS).get('/v1/openapi.json', isDescription);
    return 'ballast';
  } catch (error) {
    return networkCause((error as Error).cause).isCertificate ? 'certificate' : null;
  }
}

/** The code and the text of a failed connection, and whether it failed because this machine does not trust a certificate. */
function networkCause(error: unknown): { code: string; text: string; isCertificate: boolean } {
  const { message = '', cause } = (error ?? {}) as Partial<Error> & { cause?: Error & { code?: string } };
  const { code = '' } = cause ?? {};
  const text = (cause?.message || message).trim().split('\n')[0]!;
  return { code, text, isCertificate: /CERT|SELF_SIGNED|UNABLE_TO/.test(code) || /certificate/i.test(text) };
}

function clockFindings(date: string | null): Finding[] {
  const seconds = date === null ? NaN : (Date.now() - Date.parse(date)) / 1000;
  if (Number.isNaN(seconds) || Math.abs(seconds) < CLOCK_SECONDS) return [];
  const minutes = pluralize(Math.round(Math.abs(seconds) / 60), 'minute');
  return warning(
    'server.clock',
    `the clock of this machine is ${minutes} ${seconds > 0 ? 'ahead of' : 'behind'} that of the server: it decides whether certificates are valid and how old reports are`,
    'let both machines set their clocks by NTP',
  );
}
