import { pluralize } from '../../base/plural.js';
import { print } from '../../base/terminal.js';
import { gitCheckout, gitError, gitParents } from '../../node/ci/git.js';
import type { IdentityOptions } from '../../node/ci/identity.js';
import { checkCommand } from '../../node/doctor/command.js';
import type { Finding } from '../../node/doctor/finding.js';
import { checkIdentity } from '../../node/doctor/identity.js';
import { checkList } from '../../node/doctor/list.js';
import { checkMutes } from '../../node/doctor/mutes.js';
import { readEnvironment } from '../../node/doctor/saved-environment.js';
import { checkServer, outageFinding } from '../../node/doctor/server.js';
import { checkTimings } from '../../node/doctor/timings.js';
import { exitCodes } from '../process/exit.js';

/** The flags that were given. Variables of Ballast are read from the environment. */
export interface DoctorOptions extends IdentityOptions {
  url?: string;
  token?: string;
  stdin?: true;
  junit: readonly string[];
  pieces?: true;
  /** A file with the environment of a node. */
  environment?: string;
  json?: true;
  clientVersion: string;
}

const OF_THIS_MACHINE = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_ENV_PROXY', 'HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** Prints what would go wrong in a run with these globs and this command. Exit code 1: something would. */
export async function doctor(
  globs: readonly string[],
  command: readonly string[],
  options: DoctorOptions,
  own: NodeJS.ProcessEnv,
): Promise<void> {
  const { clientVersion, junit, pieces = false } = options;
  const environment = options.environment === undefined ? own : readEnvironment(options.environment);
  const checkout =
    options.environment === undefined ? { ...gitCheckout('.'), parents: () => gitParents('.'), error: () => gitError('.') } : null;
  const node = checkIdentity({ flags: options, environment, checkout, now: Date.now() });
  const url = options.url ?? environment.BALLAST_URL ?? '';
  const token = options.token ?? environment.BALLAST_TOKEN ?? '';
  // The network is that of this machine.
  const here = { ...environment, ...Object.fromEntries(OF_THIS_MACHINE.map(name => [name, own[name]])) };
  const server = await checkServer({ url, token, environment: here, clientVersion });
  const list = await checkList(globs, options.stdin === true);
  const timings = server.api && list.files ? await checkTimings(server.api, list.files, node.identity) : [];
  const groups: readonly (readonly [string, readonly Finding[]])[] = [
    ['Node and CI run', node.findings],
    ['Server', server.findings],
    ['Test files', [...list.findings, ...timings]],
    ['Muted failures', checkMutes(list.files, Date.now())],
    ['Command', checkCommand({ command, files: list.files, reports: junit, runsPieces: pieces, environment: here })],
    ['Without the server', outageFinding(list.files?.length ?? null)],
  ];
  const findings = groups.flatMap(([, each]) => each);
  const isReady = findings.every(({ level }) => level !== 'error');
  if (options.json) print(JSON.stringify({ is_ready: isReady, findings }));
  else for (const line of [...groups.flatMap(groupLines), conclusion(findings)]) print(line);
  process.exitCode = isReady ? exitCodes.done : exitCodes.failed;
}

function groupLines([title, findings]: readonly [string, readonly Finding[]]): string[] {
  if (findings.length === 0) return [];
  const lines = findings.flatMap(({ level, sentence, remedy }) => [
    `  ${level.padEnd('warning'.length)}  ${sentence}`,
    ...(remedy === null ? [] : [`  ${' '.repeat('warning'.length)}  fix: ${remedy}`]),
  ]);
  return [title, ...lines, ''];
}

function conclusion(findings: readonly Finding[]): string {
  const [errors, warnings] = (['error', 'warning'] as const).map(level => findings.filter(each => each.level === level).length) as [
    number,
    number,
  ];
  const counts = [...(errors > 0 ? [pluralize(errors, 'error')] : []), ...(warnings > 0 ? [pluralize(warnings, 'warning')] : [])];
  if (errors > 0) return `${counts.join(', ')}: a run would go wrong`;
  return warnings > 0 ? `${counts.join(', ')}: a run would work` : 'nothing was found that would go wrong';
}
