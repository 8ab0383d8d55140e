import { allOf, pluralize } from '../../base/plural.js';
import type { Environment } from '../ci/systems.js';
import { isToken, tokenFault, urlFault, withoutSecrets } from '../client/address.js';
import { type BuildList, parseBuildList } from '../client/answers.js';
import { type Answer, type AnswerParser, Api, type ApiOptions, RequestRejected, ServerUnreachable } from '../client/api.js';
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
  if (fault !== null) return { findings: [await badUrl(url, fault.what, question), ...findings], api: null };
  const isTokenUsable = findings.every(({ id, level }) => !id.startsWith('server.token') || level !== 'error');
  const api = apiOf(url, isTokenUsable ? question.token.trim() : 'none', question);
  const answered = await ask(api, question);
  // Without a usable token the server can only refuse.
  const own = isTokenUsable ? answered.findings : answered.findings.filter(({ id }) => id !== 'server.token_unknown');
  return { findings: [...own, ...findings], api: answered.isAnswered && isTokenUsable ? api : null };
}

/** What a node does while the server is away. @param files null: the list is not known */
export function outageFinding(files: number | null): Finding {
  const all = files === null ? 'every test file' : allOf(files, 'test file');
  return fine(
    'outage',
    `if the server is unreachable, queue and split repeat a request (--retries), then end with exit code 3 and run nothing more; with --fallback this node runs ${all} itself, and so does each other node`,
  );
}

function apiOf(url: string, token: string, { clientVersion }: ServerQuestion, timeoutSeconds = TIMEOUT_SECONDS): Api {
  const options: ApiOptions = { url, token, clientVersion, retries: 0, timeoutSeconds };
  return new Api(options);
}

function tokenFindings({ token: text, environment }: ServerQuestion): Finding[] {
  const token = text.trim();
  const of = 'BALLAST_TOKEN, or --token';
  if (token === '') return [problem('server.token_missing', tokenFault('')!.what, missingTokenRemedy(environment))];
  if (isUnexpanded(token))
    return [
      problem(
        'server.token_unexpanded',
        `the token is the name of a variable, which nothing replaced`,
        `check the quotes around it, and the name of the secret (${of})`,
      ),
    ];
  if (/^(\*+|\[(secure|masked|filtered)\]|x+)$/i.test(token))
    return [problem('server.token_masked', 'the token is masked, as in the log of a CI system', `give the token itself (${of})`)];
  if (/^["'`]|["'`]$/.test(token))
    return [
      problem(
        'server.token_quoted',
        'the token has quotes around it, which count as part of it',
        `leave the quotes out (${of}): Docker, .env files and some settings pages keep them`,
      ),
    ];
  if (!isToken(token)) return [problem('server.token_invalid', tokenFault(token)!.what, `copy the token again, whole and alone (${of})`)];
  if (token !== text)
    return [
      warning(
        'server.token_spaces',
        'the token has spaces or a line break around it. Ballast leaves them out, but curl and other clients do not',
        `store the secret without them, as with printf %s "$TOKEN" (${of})`,
      ),
    ];
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
  return [
    warning(
      'server.ca_file',
      `NODE_EXTRA_CA_CERTS names ${file}, which is not a file here, so Node does not use it`,
      'name a file of this machine, by its absolute path',
    ),
  ];
}

async function badUrl(url: string, sentence: string, question: ServerQuestion): Promise<Finding> {
  const set = (address: string) => `set BALLAST_URL=${withoutSecrets(address)}`;
  if (url === '')
    return problem(
      'server.url_missing',
      sentence,
      'set BALLAST_URL to the address of the server, such as https://ballast.example.com, or give --url',
    );
  if (isUnexpanded(url))
    return problem(
      'server.url_unexpanded',
      `${sentence}: nothing replaced the variable`,
      'check the quotes around it, and the name of the variable (BALLAST_URL, --url)',
    );
  const plain = url.replace(/^["'`]|["'`]$/g, '');
  if (plain !== url) return problem('server.url_quoted', `${sentence}: it has quotes around it`, set(plain));
  if (/^https?:\/\//.test(url)) {
    const parsed = URL.canParse(url) ? new URL(url) : null;
    const what = 'it has a user, a query or a fragment, or no host';
    return problem(
      'server.url_invalid',
      `${sentence}: ${what}`,
      parsed ? set(`${parsed.protocol}//${parsed.host}`) : 'give https://HOST or http://HOST:PORT',
    );
  }
  const rest = url.replace(/^\w*:?\/+/, '');
  for (const scheme of ['https', 'http']) {
    const candidate = `${scheme}://${rest}`;
    if (urlFault(candidate) === null && (await probe(candidate, question)) !== null)
      return problem(
        'server.url_scheme',
        `${sentence}: it does not begin with http:// or https://, and ${candidate} answers`,
        set(candidate),
      );
  }
  return problem(
    'server.url_scheme',
    `${sentence}: it does not begin with http:// or https://`,
    `${set(`https://${rest}`)}, or http:// if the server has no certificate`,
  );
}

type Asked = { findings: Finding[]; isAnswered: boolean };

async function ask(api: Api, question: ServerQuestion): Promise<Asked> {
  try {
    // The first request also looks up the name, connects and greets.
    const before = performance.now();
    const first = await read(api);
    if ('errors' in first) return { findings: [await refused(first, api, question)], isAnswered: false };
    const between = performance.now();
    await read(api);
    const [connecting, trip] = [between - before, performance.now() - between];
    const milliseconds = (time: number) => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;
    return {
      findings: [
        fine(
          'server.answers',
          `${api.options.url} knows the token, and answers in ${milliseconds(trip)} (${milliseconds(connecting)} with the connection)`,
        ),
        ...clockFindings(first.date),
      ],
      isAnswered: true,
    };
  } catch (error) {
    if (error instanceof ServerUnreachable) return { findings: [await unreachable(error, api, question)], isAnswered: false };
    if (error instanceof RequestRejected) return { findings: [await notBallast(error, api, question)], isAnswered: false };
    throw error;
  }
}

type Read = { list: BuildList; date: string | null } | Refused;
interface Refused {
  status: number;
  errors: string;
}

/** The builds of no commit: the server reads the token, and next to nothing else. */
function read(api: Api): Promise<Read> {
  const parse: AnswerParser<Read> = answer => {
    const list = parseBuildList(answer);
    return list ? { list, date: answer.date ?? null } : refusalOf(answer);
  };
  return api.get('/v1/builds?commit_hash=none&branch=none&node_total=1', parse);
}

/** A refusal in the words of a Ballast server. */
function refusalOf({ status, body }: Answer): Refused | null {
  const { errors } = (body ?? {}) as { errors?: unknown };
  if (status < 400 || !Array.isArray(errors)) return null;
  return { status, errors: errors.map(error => (typeof error === 'string' ? error : JSON.stringify(error))).join('; ') };
}

async function refused({ status, errors }: Refused, api: Api, question: ServerQuestion): Promise<Finding> {
  const { url, token } = api.options;
  if (status === 403)
    return problem(
      'server.token_unknown',
      `${url} does not know the token, which has ${pluralize(token.length, 'character')}: it is incomplete, revoked, or of another server`,
      'copy it again, or make another: ballast token create PROJECT on the server prints one, and ballast token list PROJECT shows which are revoked',
    );
  const path = await pathFinding(api, question);
  return (
    path ??
    problem(
      'server.refuses',
      `${url} refused a request with ${status}: ${errors}`,
      'give the address of a Ballast server, and use a client of its version',
    )
  );
}

/** The address has a path, and the server answers without it; null: that is not so. */
async function pathFinding(api: Api, question: ServerQuestion): Promise<Finding | null> {
  const { origin, pathname } = new URL(api.options.url);
  if (/^\/(v1\/?)?$/.test(pathname) || (await probe(origin, question)) !== 'ballast') return null;
  return problem(
    'server.url_path',
    `${api.options.url} has the path ${pathname}, and the server answers without it`,
    `set BALLAST_URL=${origin}`,
  );
}

/** What answers is no Ballast server: a proxy, a login page, another service. */
async function notBallast({ message, status }: RequestRejected, api: Api, question: ServerQuestion): Promise<Finding> {
  const path = await pathFinding(api, question);
  if (path) return path;
  const { protocol } = new URL(api.options.url);
  if (status >= 300 && status < 400)
    return problem(
      'server.redirect',
      message,
      'set BALLAST_URL to that address, without /v1 and what follows it; if it is a login page, have the proxy let requests to /v1 and /v2 pass',
    );
  if (protocol === 'http:') {
    const secure = await otherScheme(api, question);
    if (secure) return secure;
  }
  return problem(
    'server.other_service',
    message,
    `compare BALLAST_URL with the address that "ballast serve" prints; a Ballast server answers ${api.options.url.replace(/\/+$/, '')}/v1/openapi.json with JSON`,
  );
}

async function unreachable(error: ServerUnreachable, api: Api, question: ServerQuestion): Promise<Finding> {
  const { hostname, protocol, host } = new URL(api.options.url);
  const { message } = error;
  if (error.cause === undefined)
    return problem(
      'server.failing',
      message,
      'read the log of the server, and of a proxy in front of it; a server that starts or stops answers 503 for some seconds',
    );
  const { code, text, isCertificate } = networkCause(error.cause);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return problem(
      'server.name',
      `the name ${hostname} is not known on this machine (${code})`,
      `check the spelling of BALLAST_URL, and that the network of the CI machines knows the name${proxyHint(question)}`,
    );
  if (code === 'ECONNREFUSED') {
    const isHere = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
    return problem(
      'server.refused',
      `nothing listens at ${host} (${code})`,
      isHere
        ? `${hostname} is this machine itself, or this container: set BALLAST_URL to the machine that runs "ballast serve", and start that with BALLAST_HOST=0.0.0.0`
        : `check the port of BALLAST_URL; if the server listens on 127.0.0.1 only, start it with BALLAST_HOST=0.0.0.0${proxyHint(question)}`,
    );
  }
  if (isCertificate)
    return problem(
      'server.certificate',
      `this machine does not trust the certificate of ${host}: ${text} (${code})`,
      certificateRemedy(code),
    );
  const other = await otherScheme(api, question);
  if (other) return other;
  if (/TIMEOUT|TIMEDOUT|UNREACH|TimeoutError/.test(code))
    return problem('server.no_answer', message, `check that a firewall lets this machine connect to ${host}${proxyHint(question)}`);
  return problem(
    protocol === 'https:' && /SSL|EPROTO/.test(code) ? 'server.tls' : 'server.no_answer',
    message,
    'check the address and the port, and any proxy or firewall between this machine and the server',
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

/** The server speaks the other of http and https; null: no sign of it. */
async function otherScheme(api: Api, question: ServerQuestion): Promise<Finding | null> {
  const { url } = api.options;
  const isSecure = url.startsWith('https:');
  const other = isSecure ? url.replace(/^https:/, 'http:') : url.replace(/^http:/, 'https:');
  if ((await probe(other, question)) === null) return null;
  const [spoken, given] = isSecure ? ['http', 'https'] : ['https', 'http'];
  return problem('server.scheme', `the server speaks ${spoken}, and its address begins with ${given}://`, `set BALLAST_URL=${other}`);
}

/** Asks, without the token, what answers: a Ballast server, or one whose certificate is not trusted; null: nothing of the kind. */
async function probe(url: string, question: ServerQuestion): Promise<'ballast' | 'certificate' | null> {
  const isDescription: AnswerParser<true> = ({ status, body }) =>
    status === 200 && typeof (body as { openapi?: unknown } | null)?.openapi === 'string' ? true : null;
  try {
    await apiOf(url, 'none', question, PROBE_SECONDS).get('/v1/openapi.json', isDescription);
    return 'ballast';
  } catch (error) {
    if (!(error instanceof ServerUnreachable) || error.cause === undefined) return null;
    return networkCause(error.cause).isCertificate ? 'certificate' : null;
  }
}

/** The code and the text of a failed connection, and whether it failed because this machine does not trust a certificate. */
function networkCause(error: unknown): { code: string; text: string; isCertificate: boolean } {
  const { name, message, cause } = error as Error & { cause?: Error & { code?: string; errors?: { code?: string }[] } };
  const code = cause?.code ?? cause?.errors?.[0]?.code ?? name;
  const text = (cause?.message || message).trim().split('\n')[0]!;
  return { code, text, isCertificate: /CERT|SELF_SIGNED|UNABLE_TO/.test(code) || /certificate/i.test(text) };
}

function clockFindings(date: string | null): Finding[] {
  const seconds = date === null ? NaN : (Date.now() - Date.parse(date)) / 1000;
  if (Number.isNaN(seconds) || Math.abs(seconds) < CLOCK_SECONDS) return [];
  const minutes = pluralize(Math.round(Math.abs(seconds) / 60), 'minute');
  return [
    warning(
      'server.clock',
      `the clock of this machine is ${minutes} ${seconds > 0 ? 'ahead of' : 'behind'} that of the server: it decides whether certificates are valid and how old reports are`,
      'let both machines set their clocks by NTP',
    ),
  ];
}
