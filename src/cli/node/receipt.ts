import { createPublicKey, type KeyObject } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import typia from 'typia';
import { keyId, MAX_ENVELOPE_BYTES, openEnvelope } from '../../base/dsse.js';
import { abbreviate, print, printToStderr } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { type Identity, identify } from '../../node/ci/identity.js';
import { parseBuildList, parseReceipt, parseReceiptKeys } from '../../node/client/answers.js';
import { Api, RequestRejected, ServerUnreachable } from '../../node/client/api.js';
import { RECEIPT_PREDICATE, STATEMENT_PAYLOAD, STATEMENT_TYPE, type Statement } from '../../protocol/receipt.js';
import { exitCodes } from '../process/exit.js';
import type { ClientOptions } from './options.js';

export interface ReceiptOptions extends ClientOptions {
  /** A file to write it to; undefined: it is printed. */
  output?: string;
}

/**
 * Gets the receipt of a CI run from the server. Exit code 1: there is none, because the CI run is not known, or not how each of its files ended; 3: the
 * request failed.
 *
 * @param id of the build or the CI run on the server; undefined: the CI run of this job
 */
export async function getReceipt(id: string | undefined, options: ReceiptOptions): Promise<void> {
  const api = new Api(options);
  const wanted = id === undefined ? identify(['build_id', 'branch', 'commit_hash'], options) : null;
  try {
    const receipt = wanted ? await receiptOfCiRun(api, wanted) : await api.get(receiptPath(id!), parseReceipt);
    if (receipt === 'none') {
      printToStderr('no receipt: the server does not know the CI run; give the commit, the branch and the id that its nodes have');
      process.exitCode = exitCodes.failed;
      return;
    }
    const text = JSON.stringify(receipt);
    if (options.output === undefined) print(text);
    else writeFileSync(options.output, `${text}\n`);
  } catch (error) {
    if (!(error instanceof RequestRejected || error instanceof ServerUnreachable)) throw error;
    printToStderr(error.message);
    process.exitCode = error instanceof RequestRejected && error.status === 422 ? exitCodes.failed : exitCodes.server;
  }
}

async function receiptOfCiRun(api: Api, { build_id, ...build }: Pick<Identity, 'build_id' | 'branch' | 'commit_hash'>) {
  const { data } = await api.get(`/v1/builds?${new URLSearchParams(build).toString()}`, parseBuildList);
  for (const { id } of data) {
    const receipt = await api.get(`${receiptPath(id)}?${new URLSearchParams({ ci_run: build_id }).toString()}`, parseReceipt);
    if (receipt !== 'none') return receipt;
  }
  return 'none';
}

const receiptPath = (id: string) => `/v1/builds/${encodeURIComponent(id)}/receipt`;

/** Prints the public keys of the server in PEM: first the one that signs now. */
export async function printReceiptKeys(options: ClientOptions): Promise<void> {
  const { public_keys } = await new Api(options).get('/v1/receipt_keys', parseReceiptKeys);
  for (const line of public_keys.flatMap(key => key.trimEnd().split('\n'))) print(line);
}

export interface VerifyReceiptOptions {
  /** Files with public keys. One of the keys must have signed the receipt. */
  publicKey: readonly string[];
  json?: true;
}

/**
 * Prints what a receipt says if one of the keys signed it. Exit code 0: it says that no test failed; 1: it says that some did, or it proves
 * nothing.
 *
 * @param file `-` is stdin
 */
export async function verifyReceipt(file: string, { publicKey, json }: VerifyReceiptOptions): Promise<void> {
  const keys = publicKey.flatMap(readPublicKeys);
  const text = await readEnvelope(file);
  try {
    const { payload, key } = openEnvelope(text, STATEMENT_PAYLOAD, keys);
    const statement = parseStatement(payload);
    if (json) print(JSON.stringify(statement));
    else for (const line of linesOf(statement, key)) print(line);
    const { result, failedTests = [] } = statement.predicate;
    const isGreen = result !== 'FAILED' && failedTests.length === 0;
    if (!isGreen)
      printToStderr(`the receipt is genuine, but says that tests failed${failedTests.length > 0 ? `: ${abbreviate(failedTests)}` : ''}`);
    process.exitCode = isGreen ? exitCodes.done : exitCodes.failed;
  } catch (error) {
    printToStderr(`${nameOf(file)} is no receipt that can be trusted: ${(error as Error).message}`);
    process.exitCode = exitCodes.failed;
  }
}

const isStatement = typia.createIs<Statement>();

function parseStatement(payload: Buffer): Statement {
  const value = JSON.parse(payload.toString()) as Partial<Statement> | null;
  if (value?._type !== STATEMENT_TYPE) throw new Error(`what was signed is no statement of the type ${STATEMENT_TYPE}`);
  if (value.predicateType !== RECEIPT_PREDICATE)
    throw new Error(`what was signed states ${JSON.stringify(value.predicateType)}, not ${JSON.stringify(RECEIPT_PREDICATE)}`);
  if (!isStatement(value)) throw new Error('fields of the statement are missing, or of another type');
  return value;
}

function linesOf({ subject, predicate }: Statement, key: KeyObject): string[] {
  const { result, url, passedTests = [], warnedTests = [], failedTests = [] } = predicate;
  const digests = (algorithm: string) => subject.flatMap(({ digest }) => digest[algorithm] ?? []);
  const counts = `${passedTests.length} passed, ${warnedTests.length} passed only when repeated, ${failedTests.length} failed`;
  const fields = [
    ['result', result],
    ...digests('gitTree').map(tree => ['tree', tree]),
    ...digests('gitCommit').map(commit => ['commit', commit]),
    ['test files', counts],
    ...(url === undefined ? [] : [['CI run', url]]),
    ['signed by', keyId(key)],
  ];
  return fields.map(([name, value]) => `${name}: ${value}`);
}

/** Reads a receipt, or the beginning of what is too large for one. */
async function readEnvelope(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > MAX_ENVELOPE_BYTES) break;
    }
  } catch (error) {
    throw readError(file, error);
  }
  return Buffer.concat(chunks).toString();
}

/** Reads a file with one public key or several in PEM. Throws a UsageError that says what else it is. */
function readPublicKeys(file: string): KeyObject[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw readError(file, error);
  }
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----/gs)];
  if (blocks.length === 0) throw new UsageError([`${file} has no public key in PEM: such a key begins with -----BEGIN PUBLIC KEY-----`]);
  return blocks.map(([pem, label]) => {
    if (label!.endsWith('PRIVATE KEY'))
      throw new UsageError([
        `${file} has a private key, which signs receipts and must stay secret: give the public key that belongs to it`,
      ]);
    if (label !== 'PUBLIC KEY') throw new UsageError([`${file} has a ${label!.toLowerCase()}, not a public key: give one of Ed25519`]);
    const key = publicKeyOf(pem);
    const type = key?.asymmetricKeyType;
    if (!key || type !== 'ed25519')
      throw new UsageError([`${file} has ${key ? `a public key of the type ${type}` : 'a damaged public key'}: give one of Ed25519`]);
    return key;
  });
}

function publicKeyOf(pem: string): KeyObject | null {
  try {
    return createPublicKey(pem);
  } catch {
    return null;
  }
}

const nameOf = (file: string) => (file === '-' ? 'stdin' : file);

function readError(file: string, error: unknown): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new UsageError([`cannot read ${nameOf(file)}: ${code === 'ENOENT' ? 'there is no such file' : message}`]);
}
